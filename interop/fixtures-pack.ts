import type { PackDefinition } from 'patchboard';
import { registry as tools } from './fixtures/changing-tools.ts';
import { contentTools } from './fixtures/content-tools.ts';
import { heldInputTools } from './fixtures/held-input-tools.ts';
import { modelInputTools } from './fixtures/model-input-tools.ts';
import { registry as resources } from './fixtures/resources.ts';
import { returnedInputTools } from './fixtures/returned-input-tools.ts';
import { schemaTools } from './fixtures/schema-tools.ts';
import { taskTools } from './fixtures/task-tools.ts';

/** The tools, resources and prompts that the conformance suite of MCP wants, made with the public SDK only. */
export const pack: PackDefinition = {
  name: 'fixtures',
  tools: [
    ...contentTools,
    ...schemaTools,
    ...heldInputTools,
    ...returnedInputTools,
    ...modelInputTools,
    ...taskTools,
  ],
  toolSource: tools,
  resourceSource: resources,
};
