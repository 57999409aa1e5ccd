import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES_OF_KIND } from '../../../src/core/access/scopes.ts';
import type { Route } from '../../../src/transports/shared/routes/routes.ts';
import { aPlatform, recordOf, type TestPlatform } from './a-platform.ts';
import { codeIn, type TestResponse } from './ask.ts';
import {
  CASES,
  needsCredential,
  ONE_CASE_PER_MECHANISM,
  PAST,
  PROXY_HEADERS,
  type Case,
  type Expected,
  type Headers,
} from './credential-cases.ts';
import { requestTo, sampleOf, UNKNOWN, type Ids } from './route-samples.ts';
import { aScene, deleteTool, echoTool, type Scene } from './scene.ts';

/** Which cases are tried on a route. */
export interface CredentialCases {
  readonly cases: readonly Case[];
  readonly proxyHeaders: readonly string[];
}

export const EVERY_CASE: CredentialCases = { cases: CASES, proxyHeaders: PROXY_HEADERS };
export const EVERY_MECHANISM: CredentialCases = {
  cases: ONE_CASE_PER_MECHANISM,
  proxyHeaders: PROXY_HEADERS.slice(0, 1),
};

/** Starts a server with keys for the tests of a file. */
export function useScene(): () => Scene {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene();
  });
  afterAll(() => scene.close());
  return () => scene;
}

/** Defines the tests of each route: which credentials it accepts. */
export function describeRoutes(
  routes: readonly Route[],
  casesOf: (route: Route) => CredentialCases,
  scene: () => Scene,
): void {
  let local: TestPlatform;
  beforeAll(async () => {
    local = await aPlatform({ tools: [echoTool, deleteTool] });
  });
  afterAll(() => local.close());

  describe.each(routes.map((route) => ({ at: `${route.method} ${route.url}`, route })))(
    '$at',
    ({ route }) => {
      const { cases, proxyHeaders } = casesOf(route);

      it.each(cases)('with keys: $name', async (given) => {
        const expected = given.expected(route);
        const ids = expected === PAST ? { ...UNKNOWN, client: 'boss' } : realIds(scene(), route);
        const headers = given.headers(scene(), route);
        await expectResponse(scene(), { route, ids, headers, body: given.body, expected });
      });

      it('in local mode: no credential', async () => {
        const { scope } = route;
        const isOpen = scope === null || scope === 'any' || SCOPES_OF_KIND.local.includes(scope);
        const expected = isOpen ? PAST : ([403, 'permission_denied'] as const);
        await expectResponse(local, { route, ids: UNKNOWN, headers: {}, expected });
      });

      it.each(proxyHeaders)('in local mode: %s', async (header) => {
        const expected = needsCredential(route);
        await expectResponse(local, { route, ids: UNKNOWN, headers: { [header]: '127.0.0.1' }, expected });
      });

      if (route.method === 'GET' && route.isStream !== true) {
        it('HEAD is guarded alike', async () => {
          const { path } = requestTo(route, scene().ids);
          const response = await scene().ask({ method: 'HEAD', path });
          expect(response.status).toBe(route.scope === null ? sampleOf(route).past[0] : 401);
          const foreign = await scene().ask({ method: 'HEAD', path, headers: { host: 'evil.example' } });
          expect(foreign.status).toBe(421);
        });
      }
    },
  );
}

interface Asking {
  readonly route: Route;
  readonly ids: Ids;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly expected: Expected | typeof PAST;
}

async function expectResponse(server: TestPlatform, given: Asking): Promise<void> {
  const { route, ids, expected } = given;
  const request = requestTo(route, ids);
  const headers = { ...request.headers, ...given.headers };
  const body = given.body ?? request.body;
  const before = await recordOf(server.store);
  const response = await server.ask({ ...request, headers, ...(body === undefined ? {} : { body }) });
  expect(seen(response)).toEqual(expected === PAST ? sampleOf(route).past : expected);
  if (expected === PAST) return;
  expect(await recordOf(server.store)).toEqual(before);
  expect(response.headers).not.toHaveProperty('access-control-allow-origin');
  expect(response.headers).not.toHaveProperty('set-cookie');
}

function seen({ status, json }: TestResponse): Expected {
  return [status, status >= 400 ? codeIn({ json }) : null];
}

/** The response if the request were not refused. */
function realIds(scene: Scene, route: Route): Ids {
  return route.api === 'internal' ? { ...scene.ids, call: scene.clientCall } : scene.ids;
}
