import { Option, type Command } from 'commander';
import type { CliContext } from './context.ts';
import type { Registrar } from './program.ts';
import { parseSelectPath, type SelectPath } from './select-path.ts';

/** Adds `--json` and `--select`. */
export function withJsonOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print JSON'))
    .addOption(
      new Option('--select <path>', 'print only these values of the JSON, such as .items[].id')
        .argParser(parseSelectPath)
        .implies({ json: true }),
    );
}

/** Applies `--select` of any command to the output. */
export function selectInOutput(context: CliContext): Registrar {
  return (program) => {
    program.hook('preAction', (_program, command) => {
      const { select } = command.opts<{ readonly select?: SelectPath }>();
      if (select !== undefined) context.output.select(select);
    });
  };
}
