/** The page's fonts and colours for drawings that are saved. */
import { token } from "../../components/canvas";
import { FONT, type Pen } from "./runDrawing";

export function pagePen(): Pen {
  const context = document.createElement("canvas").getContext("2d");
  return {
    measure(words, size, bold) {
      // Without a canvas words are as wide as they usually are.
      if (!context) return words.length * size * 0.55;
      context.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
      return context.measureText(words).width;
    },
    color: token,
  };
}
