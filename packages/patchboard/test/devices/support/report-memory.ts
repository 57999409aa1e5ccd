// Loaded into a server before it starts: on SIGUSR2 it says what it holds after a collection, so that garbage does not count.
import process from 'node:process';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`holds ${heapUsed + external} bytes\n`);
});
