/** The class that answers are made of; a standard Response. */
export declare const Response: typeof globalThis.Response
