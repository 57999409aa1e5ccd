// npm run bench -- [--json] [--quick] [--record] [--calls <count>] [P1 P2 …]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ALL_FIGURES } from './all-figures.ts';
import type { Figure, FigureOptions } from './figure.ts';
import { describeMachine } from './machine.ts';
import { recordFigures } from './record-figures.ts';
import { header, jsonLine, table } from './report.ts';

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    calls: { type: 'string' },
  },
  allowPositionals: true,
});
const { json, quick } = values;
const ids = positionals.length === 0 ? [...ALL_FIGURES.keys()] : positionals.map((id) => id.toUpperCase());
const unknown = ids.filter((id) => !ALL_FIGURES.has(id));
if (unknown.length > 0)
  refuse(`no such figure: ${unknown.join(', ')}; there are ${[...ALL_FIGURES.keys()].join(', ')}`);
if (quick && values.record) refuse('the numbers of --quick mean nothing, so they are not recorded');
const calls = values.calls === undefined ? undefined : Number(values.calls);
if (calls !== undefined && !(Number.isSafeInteger(calls) && calls >= 1000))
  refuse(`--calls: "${values.calls}" is not a whole number of at least 1000`);

const options: FigureOptions = {
  quick,
  say: (line) => void process.stderr.write(`${line}\n`),
  ...(calls === undefined ? {} : { calls }),
};
const machine = describeMachine();
(json ? process.stderr : process.stdout).write(header(machine, quick));
const figures: Figure[] = [];
for (const id of ids) {
  const figure = await ALL_FIGURES.get(id)?.(options);
  if (figure === undefined) continue;
  figures.push(figure);
  process.stdout.write(json ? jsonLine(figure) : table(figure, quick));
}
// A run of some figures changes the picture only if that is wanted.
if (values.record || (positionals.length === 0 && !quick)) {
  for (const line of await recordFigures(machine, figures)) process.stderr.write(`${line}\n`);
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}
