// SPDX-License-Identifier: GPL-2.0-or-later
// Rates over time become zoomable (drag; double click for all of it) once they come into view. Without this script the same
// is there as a picture.
"use strict";
(function () {
	const colors = ["#0072b2", "#d55e00", "#009e73"];
	const names = ["slowest", "middle", "fastest"];

	function plot(host, data) {
		const width = () => host.clientWidth || 600;
		const series = [{ label: "s", value: (u, v) => (v === null ? "" : v.toFixed(1)) },
			{ label: "least of all", stroke: "#b0bec5", width: 1 }, { label: "most of all", stroke: "#b0bec5", width: 1 }];

		data.lines.forEach((line, i) => series.push({ label: data.lines.length === 3 ? names[i] : "sample " + (i + 1),
			stroke: colors[i], width: 1.6 }));
		const chart = new uPlot({ width: width(), height: 220, series: series,
			bands: [{ series: [2, 1], fill: "rgba(207,216,220,0.7)" }],
			scales: { x: { time: false, range: (u, low, high) => (low === data.x[0] && high === data.x[data.x.length - 1] ? [0, data.seconds] : [low, high]) }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
			axes: [{ label: "seconds since the workload began", labelSize: 22, size: 34 }, { label: "MB/s", size: 62 }] },
			[data.x, data.band[0], data.band[1], ...data.lines], host);
		new ResizeObserver(() => chart.setSize({ width: width(), height: 220 })).observe(host);
		host.classList.add("zoomed");
	}

	const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
		if (!entry.isIntersecting)
			return;
		seen.unobserve(entry.target);
		const data = entry.target.querySelector("script.zoom");

		if (data)
			plot(entry.target, JSON.parse(data.textContent));
	}));

	document.querySelectorAll(".timeline").forEach((host) => seen.observe(host));
	addEventListener("beforeprint", () => document.querySelectorAll("#verdict details, #results details, #rate details, #variance details").forEach((d) => { d.open = true; }));
})();
