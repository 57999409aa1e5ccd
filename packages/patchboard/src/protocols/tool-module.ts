import type { JsonSchema } from '@patchboard/wire';

/** One parameter of a method, as a module describes it. Other members are ignored. */
export interface MethodParameter {
  readonly name: string;
  /**
   * A JSON type, or a type as TypeScript writes it: `string[]`, `'a' | 'b'`, `Record<string, number>`, `any`. For the
   * name of any other type every value is accepted. Default `string`: methods get the text as the model wrote it.
   */
  readonly type?: string;
  readonly description?: string;
  /** Default true, unless there is a `defaultValue`. */
  readonly required?: boolean;
  readonly defaultValue?: unknown;
  /** The members of an object, or of the items of an array. */
  readonly properties?: readonly MethodParameter[];
}

/** The description of a method by its module. Other members are ignored. */
export interface MethodMetadata {
  readonly name: string;
  readonly description?: string;
  /** An example call, in the module's own words. */
  readonly example?: string;
  readonly parameters?: readonly MethodParameter[];
  /** The whole contract; takes precedence over `parameters`. */
  readonly inputSchema?: JsonSchema;
  /** Only methods with `true` can be called by agents. */
  readonly agentCallable?: boolean;
  /** The method's name in protocols that name module and method separately. Default: its name. */
  readonly protocolConfig?: { readonly vcpCommand?: string };
}

/** The module and method of a registered tool, kept in the tool's metadata. */
export interface MethodOrigin {
  readonly module: string;
  readonly moduleName: string;
  readonly method: string;
  readonly command: string;
}

/** Returns null if the tool is no method of a module. The metadata of client tools is ignored. */
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
  /** Display name. Default: the id. */
  readonly name?: string;
  /** Without it no method can be called. */
  getMetadata?(): { readonly methods: readonly MethodMetadata[] } | readonly MethodMetadata[];
}

export function methodsOf(module: ToolModule): readonly MethodMetadata[] {
  const metadata = module.getMetadata?.() ?? [];
  return 'methods' in metadata ? metadata.methods : metadata;
}

/** One method, as offered to a model. */
export interface ShownMethod extends MethodMetadata {
  /** The registered name, if it is no method of a module. Default `toolId_name`. */
  readonly registeredName?: string;
  /** The name that model vendors accept. Default: derived from the registered name. */
  readonly wireName?: string;
}

/** A tool and its methods that are offered. */
export interface ToolDefinitionInput {
  readonly toolId: string;
  readonly toolName: string;
  readonly methods: readonly ShownMethod[];
}
