/** One operation of a description, reduced to what a request needs: the `target` of its tool. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  /** With `{name}` placeholders. */
  readonly path: string;
  /** The server of the operation or path, if the description has one; absent: that of the document. */
  readonly server?: string;
  readonly parameters: readonly OperationParameter[];
  readonly body: OperationBody | null;
  /** Alternatives, each a set of scheme names that apply together. Empty: no security. */
  readonly security: readonly (readonly string[])[];
}

export interface OperationParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** The member of the tool's input. */
  readonly argument: string;
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** Set if the parameter is described by `content`: its value is serialised as this media type. */
  readonly mediaType?: string;
}

export interface OperationBody {
  /** The member of the tool's input that holds the body. */
  readonly argument: string;
  readonly mediaType: string;
  readonly required: boolean;
}
