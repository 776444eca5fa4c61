/** The rows of the picture as one drawing, each under its algorithm's name, for export. */
import { standaloneSvg } from "../../components/exportFormats";

const CAPTION = 18;
const MARGIN = 12;

export function rowsAsSvg(list: Element | null): string | undefined {
  const rows = [...(list?.querySelectorAll<SVGSVGElement>("svg[data-row]") ?? [])];
  const [first] = rows;
  if (!first) return undefined;
  const parser = new DOMParser();
  const width = Math.max(...rows.map((row) => row.clientWidth));
  const drawing = parser.parseFromString('<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml");
  const root = drawing.documentElement as unknown as SVGSVGElement;
  const style = getComputedStyle(document.documentElement);
  const add = (tag: string, attributes: Record<string, string | number>, content = "") => {
    const element = drawing.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.textContent = content;
    return root.appendChild(element);
  };
  const ground = add("rect", { width: "100%", height: "100%", fill: style.getPropertyValue("--surface") });
  let y = MARGIN;
  for (const row of rows) {
    const font = { "font-size": 12, "font-family": "sans-serif", fill: style.getPropertyValue("--text") };
    add("text", { x: MARGIN, y: y + 11, ...font }, row.getAttribute("aria-label") ?? "");
    const copy = parser.parseFromString(standaloneSvg(row), "image/svg+xml").documentElement;
    copy.setAttribute("x", String(MARGIN));
    copy.setAttribute("y", String(y + CAPTION));
    root.append(drawing.importNode(copy, true));
    y += CAPTION + row.clientHeight + MARGIN;
  }
  root.setAttribute("width", String(width + 2 * MARGIN));
  root.setAttribute("height", String(y));
  ground.setAttribute("height", String(y));
  return new XMLSerializer().serializeToString(root);
}
