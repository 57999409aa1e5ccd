import { failure, ToolFailure } from '../core/failures.ts';
import { descriptionOf, schemaOfMethod } from '../core/tools/method-contract.ts';
import { methodsOf, type MethodMetadata, type ToolModule } from '../core/tools/tool-module.ts';
import { isToolName } from '../core/tools/tool-names.ts';
import { BoardError } from './board-error.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** One tool for each method that agents may call. Throws `BoardError` for a module that cannot be registered. */
export function toolsOfModule(module: ToolModule): ToolDefinition<never, unknown>[] {
  const { id } = module;
  if (typeof id !== 'string' || !isToolName(id))
    throw refused(`bad id of a module: ${JSON.stringify(id)}: use A-Z a-z 0-9 _ . -`);
  return methodsOf(module)
    .filter(({ agentCallable }) => agentCallable === true)
    .map((method) => toolOfMethod(module, method));
}

function toolOfMethod(module: ToolModule, method: MethodMetadata): ToolDefinition<never, unknown> {
  const { name } = method;
  // Names are taken apart at their last underscore.
  if (!/^[A-Za-z0-9.-]+$/.test(name)) {
    throw refused(
      `bad name of a method of ${module.id}: ${JSON.stringify(name)}: use A-Z a-z 0-9 . - and no _`,
    );
  }
  functionOf(module, name);
  return {
    name: `${module.id}_${name}`,
    description: descriptionOf(method),
    inputSchema: schemaOfMethod(method),
    outputSchema: null,
    metadata: {},
    hooks: null,
    origin: {
      module: module.id,
      moduleName: module.name ?? module.id,
      method: name,
      command: method.protocolConfig?.vcpCommand ?? name,
    },
    execute: async (args, context) => {
      mayRun(module, name);
      return (await functionOf(module, name).call(module, args, context)) as unknown;
    },
  };
}

/** Asked again when the call runs: what a module says of its methods may have changed since. */
function mayRun(module: ToolModule, name: string): void {
  const method = methodsOf(module).find((candidate) => candidate.name === name);
  if (method === undefined)
    throw new ToolFailure(failure('method_not_found', `${module.id} has no method ${name}`));
  if (method.agentCallable !== true)
    throw new ToolFailure(failure('method_not_callable', `agents may not call ${name} of ${module.id}`));
}

type Method = (args: unknown, context: unknown) => unknown;

/** What every object has is no method of a module. */
function functionOf(module: ToolModule, name: string): Method {
  const found: unknown = name in Object.prototype ? undefined : Reflect.get(module, name);
  if (typeof found === 'function') return found as Method;
  throw new ToolFailure(failure('method_not_found', `${module.id} has no method ${name}`));
}

function refused(message: string): BoardError {
  return new BoardError(failure('name_invalid', message));
}
