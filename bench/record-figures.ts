import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import type { Machine } from './machine.ts';
import { writePeerTable } from './peer-table.ts';
import { CHINESE, ENGLISH } from './picture-words.ts';
import { drawPicture } from './picture.ts';
import { recordResults } from './results.ts';

const PICTURES = [
  ['docs/images/benchmark.svg', ENGLISH],
  ['docs/images/benchmark.zh-CN.svg', CHINESE],
] as const;

/** Records the figures, draws the pictures of the READMEs and writes the table of peers. Returns lines that say what it did. */
export async function recordFigures(
  machine: Machine,
  figures: readonly Figure[],
): Promise<readonly string[]> {
  const today = new Date().toISOString().slice(0, 10);
  const { results, incomplete } = await recordResults(machine, figures, today);
  for (const [file, words] of PICTURES) {
    await writeFile(fileURLToPath(new URL(`../${file}`, import.meta.url)), drawPicture(results, words));
  }
  await writePeerTable(results);
  return [
    ...incomplete.map((id) => `${id} is not recorded: this run left out a peer of the recorded one`),
    ...PICTURES.map(([file]) => `wrote ${file}`),
  ];
}
