import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { recordOf } from './support/a-platform.ts';
import type { Headers } from './support/credential-cases.ts';
import { describeRoutes, EVERY_CASE, EVERY_MECHANISM, useScene } from './support/credential-matrix.ts';

/** Needs a scope and takes a body, so that every check refuses here. */
const REPRESENTATIVE = 'invokeTool';

const scene = useScene();
// matrix.long.test.ts has every case on every route.
describeRoutes(ROUTES, ({ name }) => (name === REPRESENTATIVE ? EVERY_CASE : EVERY_MECHANISM), scene);

describe('the cases', () => {
  it('are all tried on one route', () => {
    expect(ROUTES.filter(({ name }) => name === REPRESENTATIVE)).toHaveLength(1);
  });
});

describe('what is no route', () => {
  it.each(['/nope', '/ui/app.js', '/v1/tools/%zz', '//evil.example/v1/tools', '/..%2fetc/passwd'])(
    '%s is guarded by the host and origin guard too',
    async (path) => {
      const ask = async (headers: Headers): Promise<number> =>
        (await scene().ask({ method: 'GET', path, headers })).status;
      expect(await ask({ host: 'evil.example' })).toBe(421);
      expect(await ask({ origin: 'https://evil.example' })).toBe(403);
      expect(await ask({ origin: 'null' })).toBe(403);
      expect(await ask({ 'sec-fetch-site': 'cross-site' })).toBe(403);
      expect([400, 404]).toContain(await ask({}));
    },
  );

  it.each(['OPTIONS', 'TRACE', 'PATCH'])('%s does nothing', async (method) => {
    const path = '/v1/tools/toy.echo/invoke';
    const before = await recordOf(scene().store);
    const response = await scene().ask({ method, path, headers: scene().boss.headers });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await recordOf(scene().store)).toEqual(before);
  });
});
