import { describe, expect, it } from "vitest";
import { parseMessage } from "../parse";
import { PYTHON_FUNCTION, pythonTool } from "./python";
import { standardTools } from "./standard";

const echo = { run: async (code: string) => code };

describe("pythonTool", () => {
  it("gives what was printed as one document", async () => {
    const documents = await pythonTool(echo).run({ code: "33", purpose: "the result" });
    expect(documents).toEqual([{ id: "output", title: "output", text: "33" }]);
  });

  it("tells System 2 to print when nothing was printed", async () => {
    const silent = pythonTool({ run: async () => "" });
    await expect(silent.run({ code: "1 + 1" })).rejects.toThrow("The code printed nothing. Print the result.");
  });

  it("sends nothing anywhere, and has ten seconds", () => {
    const { network, cost } = pythonTool(echo);
    expect([network, cost]).toEqual([undefined, { requests: 0, limitMs: 10_000, firstLoadBytes: 13_000_000 }]);
  });

  it("hands the signal and failures on", async () => {
    const { signal } = new AbortController();
    const failing = pythonTool({
      run: async (_, given) => {
        expect(given).toBe(signal);
        throw new Error("NameError: name 'x' is not defined");
      },
    });
    await expect(failing.run({ code: "x" }, signal)).rejects.toThrow("NameError: name 'x' is not defined");
  });

  it("takes the calls that the agents are trained on", () => {
    const call = { name: "python", arguments: { code: "print(abs(1876 - 1843))", purpose: "the result" } };
    const text = `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`;
    expect(parseMessage(text, [PYTHON_FUNCTION]).action).toMatchObject({ type: "toolCall", call });
  });

  it("comes after the search", () => {
    expect(standardTools([], echo).map((tool) => tool.function.name)).toEqual(["search", "python"]);
  });
});
