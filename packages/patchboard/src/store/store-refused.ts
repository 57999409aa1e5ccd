/** Thrown if a store cannot be used. It was not changed; the message is one line for the operator. */
export class StoreRefused extends Error {
  /** `store`: the file, or the URL of the database without its password. */
  constructor(store: string, problem: string, remedy: string) {
    super(`${store} ${problem}; ${remedy}`);
    this.name = 'StoreRefused';
  }
}

/** Thrown if another process uses the store. */
export class StoreInUse extends StoreRefused {
  constructor(store: string, problem: string, remedy: string) {
    super(store, problem, remedy);
    this.name = 'StoreInUse';
  }
}

/** Thrown if the database of a store cannot be reached, or takes no writes, now. */
export class StoreUnreachable extends StoreRefused {
  constructor(store: string, problem: string, remedy: string) {
    super(store, problem, remedy);
    this.name = 'StoreUnreachable';
  }
}
