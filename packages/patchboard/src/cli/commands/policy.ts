import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { ExplainView, JsonSchema } from '@patchboard/wire';
import { readArguments } from '../arguments.ts';
import type { CliContext } from '../context.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell, type Colour } from '../output.ts';
import type { Registrar } from '../program.ts';
import { addPolicyChanges } from './policy-change.ts';
import { addPolicyCheck, documentIn } from './policy-check.ts';
import { addPolicyVersions } from './policy-versions.ts';

interface ExplainFlags extends OperatorOptions {
  readonly agent: string;
  readonly args?: string;
  readonly file?: string;
}

export function policyCommand(context: CliContext): Registrar {
  return (program) => {
    const policy = program
      .command('policy')
      .description('show, change, check and explain the policy for calls');
    addPolicyVersions(policy, context);
    addPolicyChanges(policy, context);
    addPolicyCheck(policy, context);
    withOperatorOptions(policy.command('explain'))
      .description('show the decision of the policy on a call, and the matching rules; no tool is called')
      .argument('<tool>', 'name of the tool')
      .argument('[arguments...]', 'key=value, key:=json, or - for standard input')
      .requiredOption('--agent <id>', 'agent that would call the tool')
      .option('--args <json>', 'all arguments as one JSON object, @file, or - for standard input')
      .option('--file <file>', 'use the policy in this file instead of the current one')
      .addHelpText(
        'after',
        '\nNeeds a running server, also with --file: the decision depends on the\nannotations of its tools.\n' +
          '\nExample:\n  $ patchboard policy explain payments.send cents:=20000 --agent researcher',
      )
      .action((tool: string, pairs: string[], flags: ExplainFlags) => explain(context, tool, pairs, flags));
  };
}

async function explain(
  context: CliContext,
  tool: string,
  pairs: readonly string[],
  flags: ExplainFlags,
): Promise<void> {
  const document = flags.file === undefined ? undefined : await documentIn(context, flags.file);
  const view = await asOperator(context, flags, async (client) => {
    const given = { pairs, ...(flags.args === undefined ? {} : { args: flags.args }) };
    const args = await readArguments(given, context.sources, () => schemaOf(client, tool));
    return client.policy.explain({
      toolName: tool,
      agentId: flags.agent,
      args,
      ...(document === undefined ? {} : { document }),
    });
  });
  if (flags.json === true) context.output.json(view);
  else print(context, view, flags.file);
}

/** Returns `true` for a tool that is unknown or forbidden to the operator: the types of values are then guessed. */
async function schemaOf(client: PatchboardClient, tool: string): Promise<JsonSchema> {
  try {
    return (await client.tool(tool)).schema;
  } catch (error) {
    if (error instanceof PatchboardError && (error.status === 404 || error.status === 403)) return true;
    throw error;
  }
}

const COLOURS: Readonly<Record<ExplainView['effect'], Colour>> = {
  allow: 'green',
  ask: 'yellow',
  deny: 'red',
};

function print({ output }: CliContext, view: ExplainView, file: string | undefined): void {
  const version =
    view.policy_version === null ? (file ?? 'the given document') : `version ${view.policy_version}`;
  output.data(`effect   ${output.paint(COLOURS[view.effect] ?? 'bold', cell(view.effect))}`);
  output.data(`rule     ${cell(view.rule)}`);
  output.data(`reason   ${cell(view.reason)}`);
  for (const [index, step] of view.also_matched.entries()) {
    output.data(
      `${index === 0 ? 'also' : '    '}     ${cell(step.effect).padEnd(5)} ${cell(step.rule)}: ${cell(step.reason)}`,
    );
  }
  output.data(`listed   ${view.listed ? 'yes' : 'no: the tool is hidden from the agent'}`);
  output.data(`policy   ${cell(version)}`);
}
