. "$(dirname "$0")/lib.sh"
lab_new scaled
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/matrix/cpu-pinning.yaml --scale 1/1000
cat "$LAB/run.log" | tail -60
