import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function retainedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it('keeps a line that arrives in single bytes in about as much memory as it has bytes', () => {
  const lines: string[] = [];
  const splitter = new LineSplitter(
    4_194_304,
    (line) => void lines.push(line),
    () => expect.fail('the line is not too long'),
  );
  const before = retainedBytes();
  const byte = Buffer.from('x');
  for (let count = 0; count < 1_000_000; count += 1) splitter.write(byte);
  expect(retainedBytes() - before).toBeLessThan(16_000_000);
  splitter.write(Buffer.from('y\n'));
  expect(lines.map((line) => [line.length, line.slice(-2)])).toEqual([[1_000_001, 'xy']]);
});
