/** One operation of a description, reduced to what a request needs: the `target` of its tool. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  /** With `{name}` placeholders. */
  readonly path: string;
  /**
   * The first server of the operation, else of its path, else of the document, with the defaults of its variables filled in.
   * It may be relative to the URL of the description. Absent: the description names none, which means `/`.
   */
  readonly server?: string;
  readonly parameters: readonly OperationParameter[];
  readonly body: OperationBody | null;
  /** Alternatives, each a set of schemes that apply together; an empty one permits requests without credentials. Empty: no security. */
  readonly security: readonly (readonly SecurityRequirement[])[];
  /** The media types of the success responses, in the order of the description. Absent or empty: any. */
  readonly accept?: readonly string[];
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
  /** True: the body is bytes, and the argument holds them as base64. */
  readonly binary?: boolean;
  /** For forms: how each member of the body is sent; a member that is not listed is sent as OpenAPI says for its value. */
  readonly encoding?: Readonly<Record<string, MemberEncoding>>;
}

/** How one member of a form is sent. */
export interface MemberEncoding {
  readonly contentType?: string;
  /** `style`, `explode` and `allowReserved` count only for `application/x-www-form-urlencoded`. */
  readonly style?: string;
  readonly explode?: boolean;
  readonly allowReserved?: boolean;
  /** True: the member is a file, and the argument holds its bytes as base64. */
  readonly binary?: boolean;
}

/** A security scheme that an operation needs. */
export interface SecurityRequirement {
  /** The name in the description, which is the key in the settings. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly scheme: SecurityScheme;
}

export type SecurityScheme =
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }
  /** `scheme`: lower case, such as `bearer` or `basic`. */
  | { readonly type: 'http'; readonly scheme: string }
  /** `tokenUrl`: that of the client credentials flow; absent: the description has no such flow. */
  | { readonly type: 'oauth2'; readonly tokenUrl?: string }
  | { readonly type: 'openIdConnect' }
  | { readonly type: 'mutualTLS' }
  /** The description does not define the scheme, or in a way that is not understood. */
  | { readonly type: 'unknown' };
