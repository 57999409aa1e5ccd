import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';

const BENCH = fileURLToPath(new URL('../bench.mjs', import.meta.url));
/** The first run installs the load generator. A busy machine is no failure: this only ends what hangs. */
export const BENCH_TIMEOUT_MS = 900_000;

export interface Figure {
  readonly id: string;
  readonly outcomes: readonly { readonly name: string; readonly target: string | null }[];
  readonly arms: object;
}

/** Figures that measure a store. */
const DURABLE: readonly string[] = ['P1', 'P2', 'P3', 'P4', 'P8', 'P9', 'P11', 'NODES'];
/** Figures that only report a cost. */
const WITHOUT_TARGET: readonly string[] = ['SANDBOX', 'P12'];

export async function bench(
  ...args: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [BENCH, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill());
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Runs the short form of the figures (of all, if none is named) and checks the shape of each. */
export async function expectFigures(...ids: string[]): Promise<Figure[]> {
  const { code, stdout, stderr } = await bench('--quick', '--json', ...ids);
  expect(code, stderr).toBe(0);
  const figures = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Figure);
  for (const figure of figures) {
    expect(figure).toMatchObject({
      durability: DURABLE.includes(figure.id)
        ? expect.stringContaining('synced before the response')
        : expect.any(String),
    });
    expect(figure.outcomes).not.toEqual([]);
    for (const outcome of figure.outcomes)
      expect(outcome).toMatchObject({
        name: expect.any(String),
        value: expect.any(Number),
        min: expect.any(Number),
        max: expect.any(Number),
      });
    if (!WITHOUT_TARGET.includes(figure.id))
      expect(figure.outcomes.filter(({ target }) => target !== null)).not.toEqual([]);
    expect(Object.keys(figure.arms).length).toBeGreaterThan(1);
    for (const arm of Object.values(figure.arms))
      expect(arm).toMatchObject({ median: expect.any(Number), runs: expect.any(Array) });
  }
  return figures;
}
