// Preloaded into a server: on SIGUSR2 it collects garbage and prints the memory usage.
import process from 'node:process';

let reports = 0;

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`report ${reports}: holds ${heapUsed + external} bytes\n`);
  reports += 1;
});
