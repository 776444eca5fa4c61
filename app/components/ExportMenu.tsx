/** Saves what is shown: numbers as CSV or JSON, a picture as PNG and, where it is made of vectors, as SVG. */
import { ActionIcon, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { strings } from "../strings";
import { download } from "./download";
import { useHiddenParts } from "./embed";
import { csvOf, svgToPng } from "./exportFormats";
import type { Table } from "./TableTwin";

const text = strings.export;

interface ExportMenuProps {
  /** Of the files, without ending. */
  name: string;
  /** What is exported, for the button's name. */
  title: string;
  table: () => Table;
  /** A picture made of vectors, whole and on its own. */
  svg?: () => string | undefined;
  canvas?: () => HTMLCanvasElement | null;
  /** Everything, for programs; text is saved as it is. */
  json?: () => object | string;
}

export function ExportMenu({ name, title, table, svg, canvas, json }: ExportMenuProps) {
  const hidden = useHiddenParts().has("export");
  const savePng = async () => {
    const source = svg?.();
    const blob = source ? await svgToPng(source) : await canvasToPng(canvas?.());
    if (blob) download(`${name}.png`, blob, "image/png");
  };
  const saveJson = () => {
    const content = json?.() ?? {};
    const whole = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
    download(`${name}.json`, whole, "application/json");
  };
  if (hidden) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={text.label(title)} title={text.label(title)}>
          <IconDownload size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => download(`${name}.csv`, csvOf(table()), "text/csv")}>{text.csv}</Menu.Item>
        {json && <Menu.Item onClick={saveJson}>{text.json}</Menu.Item>}
        {(svg || canvas) && <Menu.Item onClick={() => void savePng()}>{text.png}</Menu.Item>}
        {svg && <Menu.Item onClick={() => download(`${name}.svg`, svg() ?? "", "image/svg+xml")}>{text.svg}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

function canvasToPng(canvas: HTMLCanvasElement | null | undefined): Promise<Blob | null> {
  return new Promise((resolve) => {
    if (canvas) canvas.toBlob(resolve, "image/png");
    else resolve(null);
  });
}
