import type { Actor } from './actor.ts';
import { agents } from './agents.ts';
import { clientQueues } from './client-queues.ts';
import { devices } from './devices.ts';
import { faults } from './faults.ts';
import { inProcessAgents } from './in-process-agents.ts';
import { inputs } from './inputs.ts';
import { keys } from './keys.ts';
import { lines } from './lines.ts';
import { operators } from './operators.ts';
import { policies } from './policies.ts';

/** One line for each actor. Their order does not matter: each draws from streams of its own. */
export const ACTORS: readonly Actor[] = [
  agents,
  operators,
  faults,
  devices,
  clientQueues,
  inputs,
  inProcessAgents,
  lines,
  policies,
  keys,
];
