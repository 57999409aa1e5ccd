import { describe, expect, it } from 'vitest';
import type { ComparedPeer, Figure, Outcome } from '../bench/figure.ts';
import { isMet, targetText } from '../bench/outcome.ts';
import { peerTable } from '../bench/peer-table.ts';
import { CHINESE, ENGLISH } from '../bench/picture-words.ts';
import { drawPicture } from '../bench/picture.ts';
import { jsonLine, table } from '../bench/report.ts';
import { addFigures, type Results } from '../bench/results.ts';
import { comparePaired, subtractPaired } from '../bench/statistics.ts';

const PEER: ComparedPeer = { name: 'a <queue>', durability: 'every_second', note: 'keeps results' };
const OUTCOMES: readonly Outcome[] = [
  { name: 'throughput', value: 2.5, min: 2, max: 3, target: { atLeast: 2 }, peer: PEER },
  { name: 'CPU added', unit: 'µs', value: 50, min: 45, max: 60, target: { atMost: 45 } },
  { name: 'a cost', value: 0.5, min: 0.4, max: 0.6 },
];
const FIGURE: Figure = {
  id: 'P1',
  work: ['A call.'],
  durability: 'synced',
  outcomes: OUTCOMES,
  arms: { one: { unit: 'per second', median: 1234, runs: [1200, 1234, 1300] } },
};
const MACHINE = {
  node: 'v24',
  platform: 'linux x64',
  cores: 2,
  cpu: 'a CPU',
  memoryGb: 8,
  filesystem: 'ext4',
};
const RESULTS: Results = {
  machine: MACHINE,
  figures: {
    P4: {
      measuredOn: '2026-11-18',
      results: [{ peer: { name: 'slow', durability: 'none' }, value: 4, min: 3, max: 5, target: null }],
    },
    P1: {
      measuredOn: '2026-11-17',
      results: [
        { peer: PEER, value: 2.5, min: 2, max: 3, target: { atLeast: 2 } },
        { peer: { name: 'fast', durability: 'synced' }, value: 0.5, min: 0.4, max: 0.6, target: null },
      ],
    },
  },
};

describe('pairs of slices', () => {
  it('have the median of their ratios or differences, and the extremes', () => {
    expect(comparePaired([10, 30, 20], [10, 10, 10])).toEqual({ value: 2, min: 1, max: 3 });
    expect(subtractPaired([10, 30, 20], [5, 10, 10])).toEqual({ value: 10, min: 5, max: 20 });
  });
});

describe('recorded figures', () => {
  const run = { machine: MACHINE, measuredOn: '2026-11-20' };

  it('are replaced by a run with the same peers, and kept beside new ones', () => {
    const fast: Outcome = {
      name: 'other',
      value: 4,
      min: 3,
      max: 5,
      peer: { name: 'fast', durability: 'synced' },
    };
    const figure = { ...FIGURE, outcomes: [...OUTCOMES, fast] };
    const { results, incomplete } = addFigures(RESULTS, { ...run, figures: [figure] });
    expect(results.figures['P1']?.measuredOn).toBe('2026-11-20');
    expect(results.figures['P4']).toBe(RESULTS.figures['P4']);
    expect(incomplete).toEqual([]);
  });

  it('are kept if the run left out one of their peers', () => {
    const { results, incomplete } = addFigures(RESULTS, { ...run, figures: [FIGURE] });
    expect(results.figures).toEqual(RESULTS.figures);
    expect(incomplete).toEqual(['P1']);
  });

  it('are dropped if they are of another machine', () => {
    const machine = { ...MACHINE, cpu: 'another CPU' };
    const { results } = addFigures(RESULTS, { ...run, machine, figures: [FIGURE] });
    expect(Object.keys(results.figures)).toEqual(['P1']);
  });
});

describe('the report', () => {
  it('compares an outcome with its target, from below or above', () => {
    expect(OUTCOMES.map(isMet)).toEqual([true, false, null]);
    expect(OUTCOMES.map(targetText)).toEqual(['≥ 2', '≤ 45 µs', null]);
  });

  it('prints the target beside each outcome', () => {
    const lines = table(FIGURE, false).split('\n');
    expect(lines.find((line) => line.includes('throughput'))).toMatch(/2\.50 +2\.00 to 3\.00 +≥ 2 +met$/);
    expect(lines.find((line) => line.includes('CPU added'))).toMatch(
      /50\.0 µs +45\.0 to 60\.0 +≤ 45 µs +missed$/,
    );
    expect(table(FIGURE, true)).not.toMatch(/met|missed/);
  });

  it('has the target of each outcome as JSON too', () => {
    expect(JSON.parse(jsonLine(FIGURE))).toMatchObject({
      id: 'P1',
      outcomes: [
        { unit: 'ratio', target: '≥ 2', isMet: true, peer: { name: 'a <queue>' } },
        { unit: 'µs', target: '≤ 45 µs', isMet: false, peer: null },
        { target: null, isMet: null },
      ],
    });
  });
});

describe('the table of peers', () => {
  it('has a row for each peer with what it promises, in the order of the figures', () => {
    const rows = peerTable(RESULTS)
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.includes('---'));
    expect(rows.slice(1)).toEqual([
      expect.stringMatching(
        /^\| a <queue> \| synced every second.*; keeps results \| P1.*\*\*2\.50\*\* \(2\.00–3\.00\) \| ≥ 2 \| 2026-11-17 \|$/,
      ),
      expect.stringMatching(/^\| fast \| synced before the response \| P1.*\*\*0\.50\*\*/),
      expect.stringMatching(/^\| slow \| nothing is kept \| P4/),
    ]);
  });
});

describe('the picture', () => {
  it('has a bar for each peer, right of 1 if we are faster and left of it if not', () => {
    const picture = drawPicture(RESULTS, ENGLISH);
    const one = numberAfter(picture, 'class="one" x1="');
    const [faster = '', slower = ''] = picture
      .split('\n')
      .filter((line) => /rect class="(every|synced)/.test(line));
    expect(numberAfter(faster, ' x="')).toBe(one);
    expect(numberAfter(slower, ' x="') + numberAfter(slower, 'width="')).toBeCloseTo(one, 0);
    expect(picture.match(/height="14"/g)).toHaveLength(3 + 3);
  });

  it('escapes names, and has colours for both modes', () => {
    const picture = drawPicture(RESULTS, ENGLISH);
    expect(picture).toContain('a &lt;queue&gt;');
    expect(picture).toContain('prefers-color-scheme: dark');
  });

  it('says the same in Chinese', () => {
    const picture = drawPicture(RESULTS, CHINESE);
    expect(picture).toContain(CHINESE.groups['P1']);
    expect(picture).not.toContain(ENGLISH.title);
    expect(Object.keys(CHINESE.groups)).toEqual(Object.keys(ENGLISH.groups));
  });
});

function numberAfter(text: string, mark: string): number {
  return Number.parseFloat(text.slice(text.indexOf(mark) + mark.length));
}
