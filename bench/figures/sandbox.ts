import type { SandboxCosts, SandboxCostSettings } from '../arms/sandbox-costs.ts';
import { runScript } from '../child.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { comparePaired } from '../statistics.ts';

/** The cost of a command and a file read in the sandbox, compared with plain ones. */
export async function sandboxCosts({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 5;
  const settings: SandboxCostSettings = quick ? { commands: 3, reads: 20 } : { commands: 40, reads: 2000 };
  const runs: SandboxCosts[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    say(`sandbox: slice ${slice + 1} of ${slices}`);
    runs.push(await runScript<SandboxCosts>('./arms/sandbox-costs.ts', settings));
  }
  const of = (name: keyof SandboxCosts): number[] => runs.map((run) => run[name]);
  return {
    id: 'SANDBOX',
    work: [
      '`bash -c true` in the sandbox, from start to end, ÷ the same with a plain spawn; and a file of 4 KiB read by the',
      'enclosed file server ÷ the same with fs.readFile. One after the other. There is no target: it is the cost of the boundary.',
    ],
    durability: 'none: nothing is recorded',
    outcomes: [
      { name: 'command ÷ plain spawn', ...comparePaired(of('enclosedMs'), of('spawnMs')) },
      { name: 'file read ÷ plain', ...comparePaired(of('enclosedReadMs'), of('readMs')) },
    ],
    arms: {
      'command, enclosed': armOf('ms', of('enclosedMs')),
      'command, plain spawn': armOf('ms', of('spawnMs')),
      'file read, enclosed': armOf('ms', of('enclosedReadMs')),
      'file read, plain': armOf('ms', of('readMs')),
      'first file of a workspace': armOf('ms', of('firstReadMs')),
    },
  };
}
