// A tool that returns a picture: a bar chart as PNG, with its numbers as JSON beside it. No server, no network.
//
//   node examples/picture.ts [chart.png]

import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { content, contentText, createPatchboard, imageBlock, isContentValue, tool } from 'patchboard';
import { z } from 'zod';

const BAR = 24;
const GAP = 8;
const HEIGHT = 120;

const draw = tool({
  name: 'chart.draw',
  description: 'Draw a bar chart',
  parameters: z.object({ values: z.array(z.number().min(0).max(100)).min(1).max(50) }),
  output: z.object({ width: z.number(), height: z.number(), highest: z.number() }),
  execute: ({ values }) => {
    const { png, width, height } = barChart(values);
    return content([`A chart of ${values.length} bars.`, imageBlock(png, 'image/png')], {
      width,
      height,
      highest: Math.max(...values),
    });
  },
});

const board = await createPatchboard({ tools: [draw] });
const { state, result, error } = await board.call('chart.draw', { values: [30, 80, 55, 100, 10] });
if (!isContentValue(result)) throw new Error(`${state}: ${error}`);
console.log(state);
console.log(contentText(result));
const picture = result['patchboard:content'].find((block) => block.type === 'image');
const [file] = process.argv.slice(2);
if (file !== undefined && picture?.type === 'image') writeFileSync(file, Buffer.from(picture.data, 'base64'));
await board.close();

/** Bars on white, in 8-bit RGB. */
function barChart(values: readonly number[]): { png: Buffer; width: number; height: number } {
  const width = values.length * (BAR + GAP) + GAP;
  const rows = Array.from({ length: HEIGHT }, (_row, y) => {
    // Each row begins with the number of its filter: 0, none.
    const row = Buffer.alloc(1 + width * 3, 255);
    row[0] = 0;
    for (const [index, value] of values.entries()) {
      if (HEIGHT - y > value + 10) continue;
      const left = 1 + (GAP + index * (BAR + GAP)) * 3;
      for (let at = left; at < left + BAR * 3; at += 3) row.set([37, 99, 235], at);
    }
    return row;
  });
  return { png: toPng(width, HEIGHT, Buffer.concat(rows)), width, height: HEIGHT };
}

function toPng(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
