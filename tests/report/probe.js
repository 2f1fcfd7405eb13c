// SPDX-License-Identifier: GPL-2.0-or-later
// Appended to a page by page.t: what a browser made of it goes to the frame around it, where --dump-dom shows it.
"use strict";
document.querySelectorAll("details").forEach((d) => { d.open = true; });
document.getElementById("rate")?.scrollIntoView();
setTimeout(() => {
	let over = "", overlaps = 0, clipped = 0, small = 0, texts = 0;

	document.querySelectorAll("svg.row, svg.xy, svg.y").forEach((svg) => {
		const shown = [...svg.querySelectorAll("text")].filter((t) => t.getBoundingClientRect().width > 0);
		const boxes = shown.map((t) => t.getBoundingClientRect());

		texts += boxes.length;
		boxes.forEach((a, i) => {
			if (a.left < -1 || a.right > innerWidth + 1)
				clipped++;
			if (a.height < 10)
				small++;
			boxes.slice(i + 1).forEach((b, k) => {
				if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
					overlaps++;
					over += ` ${shown[i].textContent}/${shown[i + 1 + k].textContent}`;
				}
			});
		});
	});
	const wide = document.documentElement.scrollWidth > innerWidth + 1;

	parent.postMessage(`probe: width ${innerWidth} wide ${wide} texts ${texts} overlaps ${overlaps} clipped ${clipped} small ${small} `
		+ `zoomable ${document.querySelectorAll(".uplot").length} ${over} probe-end`, "*");
}, 1500);
