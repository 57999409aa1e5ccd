import type { DeviceView } from '@patchboard/wire';
import type { TestPlatform } from '../../guard/support/a-platform.ts';

/** Waits for the ledger row, which may already exist. */
export async function untilDevice(server: TestPlatform, session: string, state: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const isIt = (body: string): boolean => {
      const row = JSON.parse(body) as { session?: string; state?: string };
      return row.session === session && row.state === state;
    };
    const stop = server.store.watch(({ row }) => {
      if (row.kind !== 'device.changed' || !isIt(row.body)) return;
      stop();
      resolve();
    });
    server.store
      .readLedger({ kinds: ['device.changed'] }, 0, 10_000)
      .then((rows) => {
        if (!rows.some(({ row }) => isIt(row.body))) return;
        stop();
        resolve();
      })
      .catch(reject);
  });
}

export async function deviceStates(server: Pick<TestPlatform, 'ask'>): Promise<readonly DeviceView[]> {
  const { json } = await server.ask({ method: 'GET', path: '/v1/devices?limit=200' });
  return (json as { devices: DeviceView[] }).devices;
}
