import { hostname } from 'node:os';
import type { Engine } from '../core/engine.ts';
import type { Nodes } from '../core/nodes.ts';
import type { Clock } from '../core/ports.ts';
import { VERSION } from '../version.ts';

/** The list of nodes of a store that one process uses: itself. */
export function singleNodeList(engine: Pick<Engine, 'load' | 'limits' | 'isDraining'>, clock: Clock): Nodes {
  const startedAt = clock.now();
  return {
    list: async () => {
      const { open, executing } = engine.load();
      return [
        {
          writer: 1,
          epoch: 1,
          isSelf: true,
          state: engine.isDraining ? 'leaving' : 'running',
          holder: `${hostname()}, process ${process.pid}`,
          url: null,
          version: VERSION,
          fingerprint: null,
          room: Math.max(0, engine.limits.concurrencyServer - executing),
          calls: open,
          lastBeatMs: null,
          startedAt,
          tookOver: null,
        },
      ];
    },
  };
}
