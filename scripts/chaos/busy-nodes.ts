import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterNode } from './cluster-node.ts';

/** Waits until every node is ready, holds no call and has all its slots. Describes the nodes that are not so after `ms`. */
export async function busyNodes(
  nodes: readonly Pick<ClusterNode, 'number' | 'url'>[],
  operatorToken: string,
  ms: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + ms;
  const headers = { authorization: `Bearer ${operatorToken}` };
  const busy: string[] = [];
  for (const { number, url } of nodes) {
    for (;;) {
      const response = await fetch(`${url}/v1/stats`, { headers });
      const { open, waiting, executing } = (await response.json()) as Record<string, number>;
      if (response.status === 200 && open === 0 && waiting === 0 && executing === 0) break;
      if (performance.now() > deadline) {
        busy.push(
          `node ${number} has ${open} open calls, ${waiting} that wait and ${executing} that execute at the end (${response.status})`,
        );
        break;
      }
      await pause(100);
    }
  }
  return busy;
}
