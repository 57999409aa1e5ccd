// Preloaded into a server under test: SIGUSR2 collects garbage and prints the memory usage as one line of JSON.
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  // Finalizers of the first collection release memory for the second one.
  setImmediate(() => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const descriptors = readdirSync('/proc/self/fd').length;
    process.stdout.write(`memory ${JSON.stringify({ heapUsed, external, rss, descriptors })}\n`);
  });
});
