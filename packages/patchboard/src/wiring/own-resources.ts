import { reason } from '@patchboard/wire';
import { maySeeCall } from '../core/call/visibility.ts';
import type { Engine } from '../core/engine.ts';
import { ToolFailure } from '../core/failures.ts';
import { argumentFailure } from '../core/resources/prompt-arguments.ts';
import type { Prompt, ResourceSet, ResourceTemplate } from '../core/resources/resource.ts';
import { createToolDiscoveryService } from '../protocols/discovery.ts';
import { PROTOCOL_IDS, type ProtocolId } from '../protocols/protocols.ts';
import { definitionsOf } from '../protocols/registered-tools.ts';
import { callJson } from '../transports/shared/views/call-view.ts';
import { toolDetailView } from '../transports/shared/views/tool-lists.ts';

const RECENT_CALLS = 100;

/** The resources and prompts of the server itself. They show what the HTTP routes show, to the same principals. */
export function ownResources(engine: Engine): ResourceSet {
  return {
    resourceTemplates: [callTemplate(engine), toolTemplate(engine)],
    prompts: [toolsAsText(engine)],
  };
}

function callTemplate(engine: Engine): ResourceTemplate {
  return {
    uriTemplate: 'patchboard://calls/{tool_call_id}',
    name: 'call',
    title: 'Call record',
    description: 'The record of a call, as GET /v1/tool_calls/:id returns it.',
    mimeType: 'application/json',
    scope: 'calls:read',
    read: async ({ tool_call_id: id = '' }, { principal }) => {
      const call = await engine.calls.find(principal, id);
      return call === undefined ? null : callJson(call, engine.calls.nodeOf(call));
    },
    complete: {
      tool_call_id: async (value, { principal }) => {
        const { items } = await engine.calls.list(principal, {}, null, RECENT_CALLS);
        return items.map(({ id }) => id).filter((id) => id.startsWith(value));
      },
    },
    watch: ({ tool_call_id: id = '' }, { principal }, updated) =>
      engine.feed.listenToCall(id, ({ seq, call }) => {
        if (seq !== null && call !== null && maySeeCall(principal, call)) updated();
      }),
  };
}

function toolTemplate(engine: Engine): ResourceTemplate {
  return {
    uriTemplate: 'patchboard://tools/{name}',
    name: 'tool',
    title: 'Tool contract',
    description: 'The contract of a tool, as GET /v1/tools/:name returns it. Accepts the wire name too.',
    mimeType: 'application/json',
    scope: 'tools:call',
    read: ({ name = '' }, { principal }) => {
      const tool = engine.tool(principal, name);
      return tool === undefined ? null : JSON.stringify(toolDetailView(engine, principal.tenant, tool));
    },
    complete: {
      name: (value, { principal }) =>
        engine
          .tools(principal)
          .map(({ name }) => name)
          .filter((name) => name.startsWith(value)),
    },
  };
}

function toolsAsText(engine: Engine): Prompt {
  return {
    name: 'tools_as_text',
    title: 'Tools as text',
    description:
      'The system prompt that describes the callable tools to a model without native tool calls, as POST /v1/prompt returns it.',
    scope: 'tools:call',
    arguments: [
      {
        name: 'protocol',
        description: `The text protocol: ${PROTOCOL_IDS.join(', ')}.`,
        complete: (value) => PROTOCOL_IDS.filter((id) => id.startsWith(value)),
      },
      { name: 'budget', description: 'Most characters of the prompt; tools beyond it are listed by name.' },
      { name: 'relevant_to', description: 'The subject of the conversation: tools about it come first.' },
    ],
    get: ({ protocol, budget, relevant_to: relevantTo }, { principal }) => {
      const definitions = definitionsOf(engine.tools(principal));
      return createToolDiscoveryService({ version: 0, definitions: () => definitions }).generatePrompt({
        config: {
          enabled: true,
          defaultToolEnabled: true,
          ...(protocol === undefined ? {} : { protocol: protocolId(protocol) }),
        },
        ...(budget === undefined ? {} : { budget: characters(budget) }),
        ...(relevantTo === undefined ? {} : { relevantTo }),
      });
    },
  };
}

function protocolId(given: string): ProtocolId {
  const found = PROTOCOL_IDS.find((id) => id === given);
  if (found !== undefined) return found;
  const why = reason('prompt_argument_not_one_of', { name: 'protocol', values: PROTOCOL_IDS.join(', ') });
  throw new ToolFailure(argumentFailure('protocol', why));
}

function characters(given: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(given)) return Number(given);
  throw new ToolFailure(argumentFailure('budget', reason('prompt_argument_not_number', { name: 'budget' })));
}
