import type { Durability } from './figure.ts';
import { shortNumber } from './outcome.ts';
import type { PictureWords } from './picture-words.ts';
import type { PeerResult, Results } from './results.ts';

const WIDTH = 760;
/** Where the bars begin and end; the names are left of them, the numbers right. */
const LEFT = 250;
const RIGHT = 620;
const ROW = 24;
const GROUP = 32;
const HEADER = 74;
const LEGEND = 20;
const DURABILITIES: readonly Durability[] = ['synced', 'every_second', 'none'];

/** The colours have a contrast of at least 3 to the background, in both modes. */
const STYLE = `
    text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2933; }
    .title { font-size: 16px; font-weight: 600; }
    .group { font-weight: 600; }
    .small { font-size: 12px; fill: #52606d; }
    .ground { fill: #ffffff; }
    .tick { stroke: #cbd2d9; }
    .one { stroke: #1f2933; stroke-width: 1.5; }
    .spread { stroke: #1f2933; stroke-width: 1.5; }
    .synced { fill: #0f766e; }
    .every_second { fill: #4f46e5; }
    .none { fill: #c2410c; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      .small { fill: #9aa5b1; }
      .ground { fill: #18222d; }
      .tick { stroke: #3e4c59; }
      .one { stroke: #e4e7eb; }
      .spread { stroke: #e4e7eb; }
      .synced { fill: #14b8a6; }
      .every_second { fill: #818cf8; }
      .none { fill: #fb923c; }
    }`;

/** A bar for each peer, on a logarithmic scale with 1 in it: equal distances are equal factors. */
export function drawPicture({ figures }: Results, words: PictureWords): string {
  const groups = Object.entries(words.groups).flatMap(([id, title]) => {
    const results = figures[id]?.results ?? [];
    return results.length === 0 ? [] : [{ title, results }];
  });
  const scale = scaleFor(groups.flatMap(({ results }) => results));
  const parts: string[] = [];
  let y = HEADER;
  for (const { title, results } of groups) {
    parts.push(text(16, y + 18, title, 'group'));
    y += GROUP;
    for (const result of results) {
      parts.push(bar(result, y, scale, words));
      y += ROW;
    }
  }
  const bottom = y + 4;
  const legend = DURABILITIES.map((durability, index) =>
    legendRow(durability, bottom + 30 + index * LEGEND, words),
  );
  const height = bottom + 30 + DURABILITIES.length * LEGEND + 6;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${escaped(words.title)}</title>`,
    `  <desc id="description">${escaped(words.description)}</desc>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="ground" width="${WIDTH}" height="${height}" rx="8" />`,
    text(16, 30, words.title, 'title'),
    ...axis(scale, bottom, words),
    ...parts,
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}

interface Scale {
  readonly ticks: readonly number[];
  readonly at: (ratio: number) => number;
}

const TICKS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

function scaleFor(results: readonly PeerResult[]): Scale {
  const least = Math.min(0.5, ...results.map(({ min }) => min));
  const most = Math.max(2, ...results.map(({ max }) => max));
  const from = TICKS.findLast((tick) => tick <= least) ?? 0.05;
  const to = TICKS.find((tick) => tick >= most) ?? 100;
  const unit = (RIGHT - LEFT) / Math.log(to / from);
  return {
    ticks: TICKS.filter((tick) => tick >= from && tick <= to),
    at: (ratio) => LEFT + Math.log(Math.min(to, Math.max(from, ratio)) / from) * unit,
  };
}

function axis({ ticks, at }: Scale, bottom: number, { slower, faster }: PictureWords): string[] {
  return [
    ...ticks.map((tick) => {
      const kind = tick === 1 ? 'one' : 'tick';
      return `  <line class="${kind}" x1="${px(at(tick))}" y1="${HEADER}" x2="${px(at(tick))}" y2="${bottom}" />`;
    }),
    ...ticks.map((tick) => text(at(tick), bottom + 14, String(tick), 'small', 'middle')),
    text(at(1) - 8, HEADER - 8, `← ${slower}`, 'small', 'end'),
    text(at(1) + 8, HEADER - 8, `${faster} →`, 'small'),
  ];
}

function bar({ peer, value, min, max }: PeerResult, y: number, { at }: Scale, words: PictureWords): string {
  const [from, to] = [at(1), at(value)].sort((a, b) => a - b) as [number, number];
  const middle = y + 8;
  const [low, high] = [px(at(min)), px(at(max))];
  return [
    text(LEFT - 10, y + 12, words.peers[peer.name] ?? peer.name, '', 'end'),
    `  <rect class="${peer.durability}" x="${px(from)}" y="${y + 1}" width="${px(Math.max(1, to - from))}" height="14" rx="2" />`,
    `  <line class="spread" x1="${low}" y1="${middle}" x2="${high}" y2="${middle}" />`,
    `  <line class="spread" x1="${low}" y1="${middle - 4}" x2="${low}" y2="${middle + 4}" />`,
    `  <line class="spread" x1="${high}" y1="${middle - 4}" x2="${high}" y2="${middle + 4}" />`,
    text(RIGHT + 12, y + 12, `${shortNumber(value)} (${shortNumber(min)}–${shortNumber(max)})`),
  ].join('\n');
}

function legendRow(durability: Durability, y: number, words: PictureWords): string {
  return [
    `  <rect class="${durability}" x="${LEFT}" y="${y}" width="14" height="14" rx="2" />`,
    text(LEFT + 22, y + 12, words.durability[durability], 'small'),
  ].join('\n');
}

function text(x: number, y: number, content: string, kind = '', anchor = 'start'): string {
  const place = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  const style = kind === '' ? '' : ` class="${kind}"`;
  return `  <text${style} x="${px(x)}" y="${px(y)}"${place}>${escaped(content)}</text>`;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
