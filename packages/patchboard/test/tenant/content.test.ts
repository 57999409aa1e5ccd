import { content, imageBlock } from '@patchboard/wire';
import { expect, it, onTestFinished } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { aTenantServer } from './support/tenant-server.ts';

it('a result with content is verbatim JSON for a tenant', async () => {
  const result = content(['a picture', imageBlock('AAAA')], { width: 1 });
  const server = await aTenantServer({
    tools: [aServerTool({ name: 'toy.picture', execute: () => result })],
  });
  onTestFinished(() => server.close());
  expect((await server.call('toy.picture', {})).json).toMatchObject({ success: true, output: result });
});
