import { onTestFinished } from 'vitest';
import type { Call } from '../../src/core/call/call.ts';
import { resolveLimits } from '../../src/core/limits.ts';
import { isTerminal } from '@patchboard/wire';
import { jsonSchemas } from '../../src/schemas/json-schemas.ts';
import { OpenApiUpstream } from '../../src/sources/openapi/openapi-upstream.ts';
import type { OpenApiSettings } from '../../src/sources/openapi/openapi-settings.ts';
import { SecretMask } from '../../src/sources/shared/secret-mask.ts';
import { accepted, anEngine, aPrincipal, aRequest, type EngineFixture } from './an-engine.ts';
import { openApiSettings } from './an-openapi-caller.ts';
import { FakeClock } from './fake-clock.ts';
import { waitFor } from './wait-for.ts';

const schemas = jsonSchemas();

export interface UpstreamScene extends EngineFixture {
  readonly upstream: OpenApiUpstream;
  /** Submits a call and returns it when it has ended. */
  readonly call: (toolName: string, args?: unknown) => Promise<Call>;
  readonly becomes: (state: string) => Promise<void>;
}

/** As `openApiScene`, and closed when the test has ended. */
export async function anOpenApiUpstream(
  given: Partial<OpenApiSettings>,
  secrets: readonly string[] = [],
): Promise<UpstreamScene> {
  const scene = await openApiScene(given, secrets);
  onTestFinished(async () => await scene.upstream.close());
  return scene;
}

/** An engine with one OpenAPI upstream over the network, and a clock that stands still except while `becomes` and `call` wait. */
export async function openApiScene(
  given: Partial<OpenApiSettings>,
  secrets: readonly string[] = [],
): Promise<UpstreamScene> {
  const clock = new FakeClock();
  const upstream = new OpenApiUpstream(openApiSettings(given), {
    clock,
    mask: new SecretMask(secrets),
    schemas,
    limits: resolveLimits({}),
    random: () => 0,
  });
  const fixture = await anEngine({ clock, upstreams: [upstream] });
  return {
    ...fixture,
    upstream,
    becomes: async (state) =>
      await waitFor(async () => {
        // A busy machine may need a second attempt to read the description.
        if (state === 'connected') await clock.advance(1000);
        if (upstream.status().state !== state) throw new Error(JSON.stringify(upstream.status()));
      }),
    call: async (toolName, args = {}) => {
      const request = aRequest({ toolName, args });
      const { id } = accepted(await fixture.engine.submit(request, aPrincipal()));
      return await waitFor(async () => {
        // For retries of what a busy machine refused.
        await clock.advance(100);
        const call = await fixture.store.findCall(id);
        if (call === undefined || !isTerminal(call.state.name)) throw new Error(JSON.stringify(call?.state));
        return call;
      });
    },
  };
}
