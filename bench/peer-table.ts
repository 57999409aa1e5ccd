import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { durabilityText, shortNumber, targetText } from './outcome.ts';
import type { PeerResult, Results } from './results.ts';

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const START = '<!-- bench: peers -->';
const END = '<!-- /bench: peers -->';

const WORK: Readonly<Record<string, string>> = {
  P1: 'whole call over HTTP, 50 connections',
  P2: 'whole call in one process, 128 at a time',
  P3: 'call of a device, 100 devices',
  P4: 'MCP `tools/call`, 50 connections',
  P9: 'whole call in one process, on PostgreSQL',
};

/** Replaces the table of peers in the documentation. */
export async function writePeerTable(results: Results): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${PAGE} has no ${START} … ${END}`);
  const table = peerTable(results);
  await writeFile(PAGE, `${page.slice(0, start + START.length)}\n${table}\n${page.slice(end)}`);
}

/** The table in Markdown. */
export function peerTable({ machine, figures }: Results): string {
  const rows = Object.keys(WORK).flatMap((id) => {
    const { results = [], measuredOn = '' } = figures[id] ?? {};
    return results.map((result) => rowOf(id, result, measuredOn));
  });
  return [
    '| peer | what it promises | work | Patchboard ÷ peer (single slices) | target | measured |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${machine.platform}, stores on ${machine.filesystem}.`,
  ].join('\n');
}

function rowOf(id: string, { peer, value, min, max, target }: PeerResult, measuredOn: string): string {
  const promise = [durabilityText(peer.durability), ...(peer.note === undefined ? [] : [peer.note])];
  const goal = targetText({ name: '', value, min, max, ...(target === null ? {} : { target }) });
  const ratio = `**${shortNumber(value)}** (${shortNumber(min)}–${shortNumber(max)})`;
  const cells = [peer.name, promise.join('; '), `${id}: ${WORK[id] ?? ''}`, ratio, goal ?? '', measuredOn];
  return `| ${cells.join(' | ')} |`;
}
