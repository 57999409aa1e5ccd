import { expect, it } from 'vitest';
import { runDevices } from '../../../../scripts/chaos/devices.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { chaosSeed } from '../../../../scripts/chaos/seed.ts';

/** Every fault at every step of a call, once. */
const LOOPS = 32;

it(
  'loses no result and accepts none twice, whatever happens to device, wire and server at each step of a call',
  { timeout: 300_000 },
  async () => {
    const said: string[] = [];
    const { facts, violations } = await withChaosFolder((folder) =>
      runDevices({ folder, loops: LOOPS, seed: chaosSeed('devices', 7), log: (line) => said.push(line) }),
    );
    expect(violations, JSON.stringify(facts)).toEqual([]);
    expect(facts['calls']).toBe(LOOPS);
  },
);
