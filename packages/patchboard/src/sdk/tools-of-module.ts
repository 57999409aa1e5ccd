import { reason, type Reason } from '@patchboard/wire';
import { failure, ToolFailure } from '../core/failures.ts';
import { descriptionOf, schemaOfMethod } from '../protocols/method-contract.ts';
import { methodsOf, type MethodMetadata, type ToolModule } from '../protocols/tool-module.ts';
import { isToolName } from '../core/tools/tool-names.ts';
import { BoardError } from './board-error.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** Returns one tool for each method that agents may call. Throws `BoardError` if the module is invalid. */
export function toolsOfModule(module: ToolModule): ToolDefinition<never, unknown>[] {
  const { id } = module;
  if (typeof id !== 'string' || !isToolName(id))
    throw refused(reason('module_id_bad', { id: String(JSON.stringify(id)) }));
  return methodsOf(module)
    .filter(({ agentCallable }) => agentCallable === true)
    .map((method) => toolOfMethod(module, method));
}

function toolOfMethod(module: ToolModule, method: MethodMetadata): ToolDefinition<never, unknown> {
  const { name } = method;
  // Tool names are split into module and method at their last underscore.
  if (!/^[A-Za-z0-9.-]+$/.test(name)) {
    throw refused(reason('method_name_bad', { module: module.id, name: JSON.stringify(name) }));
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
      checkCallable(module, name);
      return (await functionOf(module, name).call(module, args, context)) as unknown;
    },
  };
}

/** Checked again when the call runs, because the module's metadata may have changed. */
function checkCallable(module: ToolModule, name: string): void {
  const method = methodsOf(module).find((candidate) => candidate.name === name);
  if (method === undefined)
    throw new ToolFailure(
      failure('method_not_found', reason('module_without_method', { module: module.id, method: name })),
    );
  if (method.agentCallable !== true)
    throw new ToolFailure(
      failure('method_not_callable', reason('method_not_for_agents', { module: module.id, method: name })),
    );
}

type Method = (args: unknown, context: unknown) => unknown;

/** Does not return methods inherited from Object. */
function functionOf(module: ToolModule, name: string): Method {
  const found: unknown = name in Object.prototype ? undefined : Reflect.get(module, name);
  if (typeof found === 'function') return found as Method;
  throw new ToolFailure(
    failure('method_not_found', reason('module_without_method', { module: module.id, method: name })),
  );
}

function refused(why: Reason): BoardError {
  return new BoardError(failure('name_invalid', why));
}
