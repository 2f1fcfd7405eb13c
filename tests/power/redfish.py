#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: redfish.py PORT CERTIFICATE KEY USER PASSWORD LOG [QUIRK…]
# A BMC as Redfish shows one (DSP0266), for tests: one system whose power can be switched, with the actions and the refusals
# that real ones have. LOG gets a line a request that changes something. QUIRK: two-systems, no-pxe (refuses the boot
# device), restart-only (allows ForceRestart, no PowerCycle), no-reset (has no such action), hangs, nonsense.
import base64
import http.server
import json
import ssl
import sys
import time

port, certificate, key, user, password, log = sys.argv[1:7]
quirks = set(sys.argv[7:])
power = "On"
authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def system(name):
    reset = {"target": f"/redfish/v1/Systems/{name}/Actions/ComputerSystem.Reset"}
    reset["ResetType@Redfish.AllowableValues"] = ["On", "ForceOff", "GracefulShutdown", "ForceRestart"] + (
        [] if "restart-only" in quirks else ["PowerCycle"])
    return {
        "@odata.id": f"/redfish/v1/Systems/{name}", "Id": name, "PowerState": power,
        "Actions": {} if "no-reset" in quirks else {"#ComputerSystem.Reset": reset},
        "Boot": {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}}


class Bmc(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        data = b"" if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message):
        self.reply(status, {"error": {"code": "Base.1.0.GeneralError", "message": "See ExtendedInfo",
                                      "@Message.ExtendedInfo": [{"Message": message}]}})

    def answer(self):
        global power
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if "hangs" in quirks:
            time.sleep(30)
        if self.headers.get("Authorization") != authorization:
            return self.refuse(401, "who are you?")
        names = ["blade1", "blade2"] if "two-systems" in quirks else ["437XR1138R2"]
        root = "/redfish/v1/Systems"
        name = self.path[len(root) + 1:].split("/")[0]
        if self.command == "GET" and self.path == root:
            if "nonsense" in quirks:
                return self.reply(200, b"<html>log in</html>")
            return self.reply(200, {"Members": [{"@odata.id": f"{root}/{n}"} for n in names]})
        if name not in names:
            return self.refuse(404, "there is no such resource")
        if self.command == "GET":
            return self.reply(200, system(name))
        with open(log, "a", encoding="ascii") as out:
            out.write(f"{self.command} {self.path} {json.dumps(json.loads(body))}\n")
        if self.command == "PATCH":
            if "no-pxe" in quirks:
                return self.refuse(400, "BootSourceOverrideTarget cannot be set")
            return self.reply(200, system(name))
        kind = json.loads(body)["ResetType"]
        if kind in ("PowerCycle", "ForceRestart") and power == "Off":
            return self.refuse(409, "the system is off")
        power = "Off" if kind == "ForceOff" else "On"
        return self.reply(204, None)

    do_GET = do_PATCH = do_POST = answer

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Bmc)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
