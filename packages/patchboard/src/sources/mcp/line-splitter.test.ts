import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  // Without the bytes of buffers, which are freed later, by another thread.
  return process.memoryUsage().heapUsed;
}

it('keeps a line that arrives in single bytes in about as much memory as it has bytes', () => {
  const lines: string[] = [];
  const splitter = new LineSplitter(
    4_194_304,
    (line) => void lines.push(line),
    () => expect.fail('the line is not too long'),
  );
  const before = heapBytes();
  const byte = Buffer.from('x');
  for (let count = 0; count < 1_000_000; count += 1) splitter.write(byte);
  expect(heapBytes() - before).toBeLessThan(32_000_000);
  splitter.write(Buffer.from('y\n'));
  expect(lines.map((line) => [line.length, line.slice(-2)])).toEqual([[1_000_001, 'xy']]);
});
