import type { JsonSchema } from '@patchboard/wire';

/** One parameter of a method, as a module describes it. What else stands in it is not used. */
export interface MethodParameter {
  readonly name: string;
  /**
   * A JSON type, or a type as TypeScript writes it: `string[]`, `'a' | 'b'`, `Record<string, number>`, `any`. For the
   * name of any other type every value is taken. Default `string`: methods get the text as the model wrote it.
   */
  readonly type?: string;
  readonly description?: string;
  /** Default true, unless there is a `defaultValue`. */
  readonly required?: boolean;
  readonly defaultValue?: unknown;
  /** The members of an object, or of the items of a list. */
  readonly properties?: readonly MethodParameter[];
}

/** What a module says of one of its methods. What else stands in it is not used. */
export interface MethodMetadata {
  readonly name: string;
  readonly description?: string;
  /** How a call may look, in the module's own words. */
  readonly example?: string;
  readonly parameters?: readonly MethodParameter[];
  /** The whole contract; wins over `parameters`. */
  readonly inputSchema?: JsonSchema;
  /** Only what is marked can ever be run. */
  readonly agentCallable?: boolean;
  /** The word for it where a protocol names module and method apart. Default: its name. */
  readonly protocolConfig?: { readonly vcpCommand?: string };
}

/** Says which tool of which module a registered tool is; kept in the tool's metadata. */
export interface MethodOrigin {
  readonly module: string;
  readonly moduleName: string;
  readonly method: string;
  readonly command: string;
}

/** Null: it is no method of a module. Only this server's own tools are believed. */
export function originOf(tool: {
  readonly source: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}): MethodOrigin | null {
  const { module, moduleName, method, command } = tool.metadata ?? {};
  if (tool.source !== 'server' || typeof module !== 'string' || typeof method !== 'string') return null;
  return {
    module,
    method,
    moduleName: typeof moduleName === 'string' ? moduleName : module,
    command: typeof command === 'string' ? command : method,
  };
}

/** An object with methods, some of which agents may call. The other name in use for it is ToolRegistry. */
export interface ToolModule {
  readonly id: string;
  /** For people. Default: the id. */
  readonly name?: string;
  /** Without it no method can be called. */
  getMetadata?(): { readonly methods: readonly MethodMetadata[] } | readonly MethodMetadata[];
}

export function methodsOf(module: ToolModule): readonly MethodMetadata[] {
  const metadata = module.getMetadata?.() ?? [];
  return 'methods' in metadata ? metadata.methods : metadata;
}

/** One method as it is shown to a model. */
export interface ShownMethod extends MethodMetadata {
  /** The name under which it is registered, if it is no method of a module. Default `toolId_name`. */
  readonly registeredName?: string;
  /** The name model vendors accept. Default: made from the registered one. */
  readonly wireName?: string;
}

/** A tool and those of its methods that shall be shown. */
export interface ToolDefinitionInput {
  readonly toolId: string;
  readonly toolName: string;
  readonly methods: readonly ShownMethod[];
}
