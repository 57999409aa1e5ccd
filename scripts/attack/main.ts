// npm run attack -- [--short] [--seed N] [battery …]
// Sends hostile input to a real server on loopback and counts the checks that passed.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { withChaosFolder } from '../chaos/scenario.ts';
import { parseSeed } from '../chaos/seed.ts';
import { SeededRandom } from '../chaos/seeded-random.ts';
import { attack } from './attack.ts';
import { BATTERIES } from './batteries.ts';

const { values, positionals } = parseArgs({
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' } },
  allowPositionals: true,
});
const seed = parseSeed(values.seed);
const names = positionals.length === 0 ? [...BATTERIES.keys()] : positionals;
const unknown = names.filter((name) => !BATTERIES.has(name));
if (unknown.length > 0 || seed === null) {
  process.stderr.write(
    unknown.length > 0
      ? `no such battery: ${unknown.join(', ')}; there are ${[...BATTERIES.keys()].join(', ')}\n`
      : '--seed takes a whole number\n',
  );
  process.exit(2);
}

console.log(`Patchboard attack · seed ${seed} · Node ${process.version}`);
let tried = 0;
const violations = await withChaosFolder(async (folder) => {
  const options = { isShort: values.short, random: new SeededRandom(seed) };
  return await attack(folder, names, options, ({ name, tally }) => {
    tried += tally.tried;
    console.log(`${tally.violations.length === 0 ? '✓' : '✗'} ${name}: ${tally.summary}`);
    for (const violation of tally.violations.slice(0, 20)) console.log(`    ${violation}`);
  });
});
console.log(`\n${tried} attempts, ${violations.length} did not hold.`);
for (const violation of violations.slice(0, 20))
  if (violation.startsWith('the ')) console.log(`  ${violation}`);
process.exitCode = violations.length === 0 ? 0 : 1;
