import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import { accessOf } from '../simulated-engine.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { operatorPrincipal } from './principals.ts';

interface KeyData {
  /** The step that makes the key. */
  readonly of: string;
  readonly node: number;
}

interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

const GIVE_UP_MS = 5000;

const made: WeakMap<World, Map<string, MadeKey>> = new WeakMap();

/**
 * Operators who make and revoke keys, and callers who authenticate with them at any node, also at another one at once after
 * the key was made or revoked.
 */
export const keys: Actor = { name: 'keys', plan, perform };

function plan(stream: Stream, { hasKeys, activeMs, nodes }: Profile): StepDraft[] {
  if (!hasKeys) return [];
  const mints = Array.from({ length: stream.integer(1, 3) }, () => ({
    at: stream.next() * activeMs * 0.6,
    do: 'mint',
    data: { of: '', node: stream.integer(0, nodes - 1) },
  }));
  const others = Array.from({ length: stream.integer(4, 20) }, () => {
    const index = stream.integer(1, mints.length);
    const data: KeyData = { of: `keys.${index}`, node: stream.integer(0, nodes - 1) };
    const at = (mints[index - 1]?.at ?? 0) + stream.delay(1, activeMs);
    return { at, do: stream.chance(0.15) ? 'revoke' : 'use', data: { ...data } };
  });
  return [...mints, ...others];
}

async function perform(world: World, step: Step): Promise<void> {
  const { of, node } = step.data as unknown as KeyData;
  if (step.do === 'mint') return await mint(world, step, node);
  const key = made.get(world)?.get(of);
  if (key === undefined) return;
  if (step.do === 'revoke') await revoke(world, step, node, key);
  else await use(world, step.id, node, key);
}

async function mint(world: World, step: Step, node: number): Promise<void> {
  const request = { tenant: 'default', kind: 'agent', name: step.id, scopes: null, expiresAt: null } as const;
  const reply = await world.request(step.id, world.node(node), GIVE_UP_MS, (engine) =>
    accessOf(engine).keys.mint(operatorPrincipal('operator-1'), request),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'mint' });
  if (!('secret' in reply.value)) throw new Error(`no key was made: ${reply.value.code}`);
  const { key, secret } = reply.value;
  made.set(world, (made.get(world) ?? new Map<string, MadeKey>()).set(step.id, { id: key.id, secret }));
  world.history.add(step.id, 'key made', { key: key.id });
  await use(world, `${step.id}.use`, node + 1, { id: key.id, secret });
}

async function revoke(world: World, step: Step, node: number, key: MadeKey): Promise<void> {
  const { id } = key;
  world.history.add(step.id, 'revoke key', { to: world.node(node).name, key: id });
  const reply = await world.request(step.id, world.node(node), GIVE_UP_MS, (engine) =>
    accessOf(engine).keys.revoke(operatorPrincipal('operator-1'), id),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'revoke key' });
  if (!('id' in reply.value)) return;
  world.history.add(step.id, 'key revoked', { key: id });
  await use(world, `${step.id}.use`, node + 1, key);
}

async function use(world: World, who: string, node: number, { id, secret }: MadeKey): Promise<void> {
  world.history.add(who, 'use key', { to: world.node(node).name, key: id });
  const reply = await world.request(who, world.node(node), GIVE_UP_MS, (engine) =>
    accessOf(engine).authenticator.authenticate({
      headers: { authorization: `Bearer ${secret}` },
      ip: '127.0.0.1',
    }),
  );
  if (reply.kind !== 'reply') return world.history.add(who, reply.kind, { ...reply, kind: 'use key' });
  world.history.add(who, 'kind' in reply.value ? 'key accepted' : 'key refused', { key: id });
}
