import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BENCH = fileURLToPath(new URL('./bench.mjs', import.meta.url));
/** The first run installs the load generator. */
const TIMEOUT_MS = 240_000;

async function bench(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [BENCH, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Those that are about a store. */
const DURABLE: readonly string[] = ['P1', 'P2', 'P8'];

// Shapes only: what a figure is on a busy machine means nothing.
describe('npm run bench', () => {
  it('prints one line of JSON for each figure', { timeout: TIMEOUT_MS }, async () => {
    const { code, stdout, stderr } = await bench('--quick', '--json');
    expect(code, stderr).toBe(0);
    const figures = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; arms: object });
    expect(figures.map((figure) => figure.id)).toEqual([
      'P1',
      'P2',
      'P3',
      'P5',
      'P6',
      'P7',
      'P8',
      'CPU',
      'SANDBOX',
      'P10',
    ]);
    for (const figure of figures) {
      expect(figure).toMatchObject({
        ratio: expect.any(Number),
        target: expect.any(String),
        durability: DURABLE.includes(figure.id)
          ? expect.stringContaining('synced before the answer')
          : expect.any(String),
        spread: { min: expect.any(Number), max: expect.any(Number) },
      });
      expect(Object.keys(figure.arms).length).toBeGreaterThan(1);
      for (const arm of Object.values(figure.arms))
        expect(arm).toMatchObject({ median: expect.any(Number), runs: expect.any(Array) });
    }
    expect(figures[0]?.arms).toHaveProperty('no_store');
    expect(figures[0]?.arms).toHaveProperty('patchboard');
  });

  it('says which figures there are when asked for another', { timeout: TIMEOUT_MS }, async () => {
    const { code, stderr } = await bench('P99');
    expect(code).toBe(2);
    expect(stderr).toContain('no such figure: P99; there are P1, P2, P3, P5, P6, P7, P8, CPU, SANDBOX, P10');
  });
});
