/**
 * The command line: `lab <command> [options]`. One JSON object on standard output with --json, a readable table without.
 * Exit codes: 0 done; 1 it failed; 2 the arguments are wrong. Failures are one line on standard error.
 */
import type { CliContext, Command } from "./command";
import { evalDualCommand } from "./commands/evalDual";
import { evalRecursionCommand } from "./commands/evalRecursion";
import { evalWeightsCommand } from "./commands/evalWeights";
import { exportOnnxCommand } from "./commands/exportOnnx";
import { hiddenCommand, logitsCommand } from "./commands/forward";
import { generateCommand } from "./commands/generate";
import { gradcheckCommand } from "./commands/gradcheck";
import { packCommand } from "./commands/pack";
import { researchCommand } from "./commands/research";
import { trainInnerCommand, trainOuterCommand } from "./commands/train";
import { nodeContext } from "./nodeContext";
import { describeOptions, parseOptions, UsageError } from "./options";

const COMMANDS: readonly Command[] = [
  researchCommand,
  evalDualCommand,
  evalRecursionCommand,
  evalWeightsCommand,
  packCommand,
  logitsCommand,
  hiddenCommand,
  generateCommand,
  exportOnnxCommand,
  trainInnerCommand,
  trainOuterCommand,
  gradcheckCommand,
];

/** How a person starts a command. */
const PROGRAM = "npm run -s lab --";

/** Runs one command and returns the exit code. Never throws. */
export async function main(argv: readonly string[], context: CliContext = nodeContext()): Promise<number> {
  try {
    await dispatch(argv, context);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message || error.name : String(error);
    context.err(`lab: ${message.replace(/\s*\n\s*/g, " ")}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    context.python.close();
    await context.models.close();
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<void> {
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));
  const help = argv.includes("--help") || argv.includes("-h");
  if (command) {
    if (help) return context.out(commandHelp(command));
    const values = parseOptions(command.options, argv.slice(command.name.split(" ").length));
    return command.run(values, context);
  }
  const group = COMMANDS.filter(({ name }) => name.split(" ")[0] === argv[0]);
  if (help && (group.length > 0 || argv[0]?.startsWith("-"))) {
    return context.out(overview(group.length > 0 ? group : COMMANDS));
  }
  const names = (group.length > 0 ? group : COMMANDS).map(({ name }) => name).join(", ");
  const given = argv[0] === undefined ? "no command given" : `unknown command "${argv.slice(0, 2).join(" ")}"`;
  throw new UsageError(`${given}; commands: ${names}; try --help`);
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `${PROGRAM} <command> [--json]\n\n${lines.join("\n")}\n\n<command> --help tells its options.\n`;
}

function commandHelp({ name, summary, options, examples }: Command): string {
  const lines = examples.map((example) => `  ${PROGRAM} ${example}`);
  return `${name}: ${summary}\n\nOptions\n${describeOptions(options)}\n\nExamples\n${lines.join("\n")}\n`;
}
