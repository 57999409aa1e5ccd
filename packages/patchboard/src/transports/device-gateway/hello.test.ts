import { describe, expect, it } from 'vitest';
import { aDevice } from '../../../test/support/a-device.ts';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import { engineNodes, submitTo } from '../../../test/support/engine-nodes.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { acceptHello } from './hello.ts';

const phone = aPrincipal({ clientId: 'phone' });
const CAMERA = { name: 'camera', schema: { type: 'object' }, timeout_ms: 600_000 };

/** A socket that is closed when the session has been read. */
const CLOSED = {
  isOpen: false,
  send: () => undefined,
  request: () => undefined,
  cancel: () => undefined,
  inputGiven: () => undefined,
  replaced: () => undefined,
};

describe('a device whose socket closes while its session is looked up', () => {
  it.each([0, 1])(
    'resumes with the same token at its next attempt: the lookup at node %i took nothing',
    async (at) => {
      const { a, nodes, heal } = await engineNodes({});
      const first = await aDevice(a.engine, [CAMERA]);
      await settled();
      const call = await submitTo(a, { toolName: 'camera' });
      a.engine.devices.disconnect(first.device, 'lost');
      const { engine } = nodes[at]!;
      const resume = first.device.resumeToken!;
      const hello = { type: 'hello', resume } as const;
      expect(
        await acceptHello({ engine, limits: engine.limits }, { principal: phone }, null, hello, CLOSED),
      ).toBe(null);
      await settled();
      // The request never reached it.
      const back = await aDevice(engine, [CAMERA], 'phone', { resume, holding: [] });
      await heal();
      expect(back.isResumed).toBe(true);
      expect(back.requests.map(({ id }) => id)).toEqual([call.id]);
    },
  );
});
