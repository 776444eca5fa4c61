/** Pictures and tables as files: CSV after RFC 4180, SVG that stands on its own, PNG. */
import type { Table } from "./TableTwin";

export function csvOf({ head, rows }: Table): string {
  return [head, ...rows]
    .map((cells) => cells.map(csvCell).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Presentation that style sheets give and a file has to carry itself. */
const CARRIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family"] as const;

/** An SVG element of the page as a file: with its colours, fonts and background. */
export function standaloneSvg(element: SVGSVGElement): string {
  const copy = element.cloneNode(true) as SVGSVGElement;
  const originals = element.querySelectorAll<SVGElement>("*");
  for (const [i, node] of copy.querySelectorAll<SVGElement>("*").entries()) {
    const style = getComputedStyle(originals[i] as SVGElement);
    for (const property of CARRIED) node.setAttribute(property, style.getPropertyValue(property));
    node.removeAttribute("class");
  }
  const { width, height } = element.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--surface"));
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/** Pixels for each unit of the drawing. */
const PNG_SCALE = 2;

export async function svgToPng(svg: string): Promise<Blob | null> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width * PNG_SCALE;
    canvas.height = image.height * PNG_SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
