// Loaded into a server before it starts: on SIGUSR2 it says what it holds after a collection, so that garbage does not count.
import process from 'node:process';

let reports = 0;

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`report ${reports}: holds ${heapUsed + external} bytes\n`);
  reports += 1;
});
