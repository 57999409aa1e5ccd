import type { Battery } from './battery.ts';
import { fuzzedBodies } from './bodies.ts';
import { hostileTokens, routesByCredential } from './credentials.ts';
import { decisionRaces } from './decisions.ts';
import { httpShapes } from './http-shapes.ts';
import { keyEscalation } from './keys.ts';
import { hostileNames } from './names.ts';
import { partialBodies } from './partial-bodies.ts';
import { hostilePolicies } from './policies.ts';
import { damagedReplies } from './replies.ts';
import { schemaBombs } from './schema-bombs.ts';
import { socketStreams } from './sockets.ts';
import { sqlEscapes } from './sql.ts';
import { streamResets } from './streams.ts';
import { foreignTenant } from './tenants.ts';

/** In the order in which they run, on one server. */
export const BATTERIES: ReadonlyMap<string, Battery> = new Map([
  ['tokens', hostileTokens],
  ['routes', routesByCredential],
  ['tenants', foreignTenant],
  ['keys', keyEscalation],
  ['bodies', fuzzedBodies],
  ['http', httpShapes],
  ['partial', partialBodies],
  ['sockets', socketStreams],
  ['schemas', schemaBombs],
  ['names', hostileNames],
  ['policies', hostilePolicies],
  ['sql', sqlEscapes],
  ['replies', damagedReplies],
  ['streams', streamResets],
  ['decisions', decisionRaces],
]);
