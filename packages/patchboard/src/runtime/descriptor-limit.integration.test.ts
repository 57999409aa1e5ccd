import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connectionBudget, descriptorLimit } from './descriptor-limit.ts';

const MODULE = fileURLToPath(new URL('./descriptor-limit.ts', import.meta.url));

describe('the limit of open files', () => {
  it('is what ulimit -n grants this process', () => {
    const script = `import(${JSON.stringify(MODULE)}).then((m) => console.log(m.descriptorLimit()))`;
    const line = ['-c', 'ulimit -n 321 && exec "$0" -e "$1"', process.execPath, script];
    const { stdout, stderr } = spawnSync('bash', line, { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: '321\n', stderr: '' });
  });

  it('has a default where /proc/self/limits does not exist', () => {
    expect(descriptorLimit('/nowhere')).toBe(10_240);
  });
});

describe('the connections that a limit allows', () => {
  it.each([
    [20_000, 19_488],
    [1024, 512],
    [128, 64],
  ])('of %i descriptors %i may be connections', (limit, connections) => {
    expect(connectionBudget(limit)).toBe(connections);
  });
});
