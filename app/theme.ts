/** Mantine's theme. Chrome is drawn in ink, so that the three lane colours of tokens.css keep one meaning each. */
import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
} from "@mantine/core";

const ink: MantineColorsTuple = [
  "#f3f5f7",
  "#e4e8ec",
  "#c9d0d8",
  "#a8b2bd",
  "#84909d",
  "#64707d",
  "#4a5561",
  "#343d47",
  "#20272f",
  "#12171c",
];

export const theme = createTheme({
  colors: { ink },
  primaryColor: "ink",
  primaryShade: { light: 8, dark: 1 },
  // Filled controls are ink on the page's ground, turned round in the dark scheme.
  variantColorResolver: (input) =>
    input.variant === "filled"
      ? { background: "var(--text)", hover: "var(--text-strong)", color: "var(--page)", border: "none" }
      : defaultVariantColorsResolver(input),
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", sans-serif',
  fontFamilyMonospace: '"JetBrains Mono Variable", ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  headings: { fontFamily: '"Inter Variable", system-ui, sans-serif', fontWeight: "650" },
});

/** Mantine's own surfaces take the page's colours (tokens.css). */
export const cssVariables: CSSVariablesResolver = () => {
  const shared = {
    "--mantine-color-body": "var(--page)",
    "--mantine-color-text": "var(--text)",
    "--mantine-color-dimmed": "var(--text-dim)",
    "--mantine-color-placeholder": "var(--text-dim)",
    "--mantine-color-default": "var(--surface)",
    "--mantine-color-default-hover": "var(--surface-sunken)",
    "--mantine-color-default-border": "var(--line-strong)",
    "--mantine-color-default-color": "var(--text)",
    "--mantine-color-disabled": "var(--surface-sunken)",
    "--mantine-color-disabled-color": "var(--text-dim)",
    "--mantine-color-disabled-border": "var(--line)",
    "--mantine-primary-color-filled": "var(--text)",
    "--mantine-primary-color-light-color": "var(--text)",
  };
  return { variables: {}, light: shared, dark: shared };
};
