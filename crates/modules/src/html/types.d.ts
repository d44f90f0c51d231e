/**
 * Reading HTML. `parseHTML(text)` and `response.html()` give a `Selection`, which finds elements as jQuery does.
 *
 * Selectors are those of CSS 3 with `:contains()`, `:has()`, `:matches()`, `[a!=b]` and `[a#=regex]`. A selector that
 * cannot be read selects nothing. Every member of an element is a function: `element.id()`.
 */

/** Reads a document. Every text is one, as in a browser. */
export function parseHTML(text: string): Selection;

/** What methods take to choose elements: a selector, a selection or an element. */
export type Chooser = string | Selection | Element;

/** A list of nodes. Methods that give a selection leave this one as it is. */
export interface Selection {
  /** Where the document came from; empty for a text. */
  readonly url: string;
  /** This selection and what the argument chooses in the whole document. */
  add(chooser: Chooser): Selection;
  /** An attribute of the first element. */
  attr(name: string): string | undefined;
  attr(name: string, absent: string): string;
  /** Elements directly below. */
  children(chooser?: Chooser): Selection;
  /** Of each element, itself or the nearest above that is chosen. */
  closest(chooser: Chooser): Selection;
  /** All nodes directly below, texts and comments too. */
  contents(): Selection;
  /** Attributes that begin with `data-`, of the first element: numbers, booleans and JSON as what they look like. */
  data(): { [name: string]: unknown };
  data(name: string): unknown;
  /** Calls a function with the place and the element, for each element. */
  each(callback: (index: number, element: Element) => void): Selection;
  /** The selection that this one was made from. */
  end(): Selection;
  /** The element at a place; negative places are counted from the end. */
  eq(index: number): Selection;
  /** The elements that are chosen, or for which the function gives something true. */
  filter(chooser: Chooser | ((index: number, element: Selection) => unknown)): Selection;
  /** Elements below. */
  find(chooser: Chooser): Selection;
  first(): Selection;
  /** One element, or all of them as an array. */
  get(index: number): Element | undefined;
  get(): Element[];
  /** The elements that have a chosen one below them. */
  has(chooser: Chooser): Selection;
  /** What is inside of the first element. */
  html(): string;
  /** The place of the first element among its siblings, or among what the argument selects; -1 when it is not there. */
  index(chooser?: Chooser): number;
  /** Whether one of the elements is chosen. */
  is(chooser: Chooser | ((index: number, element: Selection) => unknown)): boolean;
  last(): Selection;
  /** What a function gives for each element. */
  map<T>(callback: (index: number, element: Selection) => T): T[];
  next(chooser?: Chooser): Selection;
  nextAll(chooser?: Chooser): Selection;
  /** Elements behind, up to the first that is `end`. */
  nextUntil(end?: Chooser, chooser?: Chooser): Selection;
  not(chooser: Chooser | ((index: number, element: Selection) => unknown)): Selection;
  parent(chooser?: Chooser): Selection;
  parents(chooser?: Chooser): Selection;
  parentsUntil(end?: Chooser, chooser?: Chooser): Selection;
  prev(chooser?: Chooser): Selection;
  prevAll(chooser?: Chooser): Selection;
  prevUntil(end?: Chooser, chooser?: Chooser): Selection;
  /** The fields of forms, as a URL's query. As in k6, checkboxes and radio buttons are left out. */
  serialize(): string;
  serializeArray(): { name: string; value: string | string[] }[];
  serializeObject(): { [name: string]: string | string[] };
  siblings(chooser?: Chooser): Selection;
  /** The first element below that is chosen. */
  single(chooser: Chooser): Selection;
  size(): number;
  /** The elements from a place up to another; negative places are counted from the end. */
  slice(from: number, to?: number): Selection;
  /** The text of all elements and of what is below them. */
  text(): string;
  toArray(): Selection[];
  /** The value of the first element, when that is a form field. */
  val(): string | string[] | undefined;
}

/** An attribute with its element. */
export interface Attribute {
  name: string;
  value: string;
  owner_element: Element;
}

/** One node. What has no such neighbour or attribute gives undefined. */
export interface Element {
  attributes(): { [name: string]: Attribute };
  childElementCount(): number;
  childNodes(): Element[];
  children(): Element[];
  classList(): string[];
  className(): string | undefined;
  contains(other: Element): boolean;
  firstChild(): Element | undefined;
  firstElementChild(): Element | undefined;
  getAttribute(name: string): string | undefined;
  getAttributeNode(name: string): Attribute | undefined;
  getElementsByClassName(names: string): Element[];
  getElementsByTagName(name: string): Element[];
  hasAttribute(name: string): boolean;
  hasAttributes(): boolean;
  hasChildNodes(): boolean;
  id(): string;
  innerHTML(): string;
  isDefaultNamespace(): boolean;
  /** Whether both are written in the same way. */
  isEqualNode(other: Element): boolean;
  isSameNode(other: Element): boolean;
  lang(): string | undefined;
  lastChild(): Element | undefined;
  lastElementChild(): Element | undefined;
  matches(selector: string): boolean;
  namespaceURI(): string;
  nextElementSibling(): Element | undefined;
  nextSibling(): Element | undefined;
  nodeName(): string;
  nodeType(): number;
  nodeValue(): string | undefined;
  ownerDocument(): Element;
  parentElement(): Element | undefined;
  parentNode(): Element | undefined;
  previousElementSibling(): Element | undefined;
  previousSibling(): Element | undefined;
  querySelector(selector: string): Element | undefined;
  querySelectorAll(selector: string): Element[];
  selection(): Selection;
  textContent(): string;
  toString(): string;
  /**
   * What elements of one tag have besides, under the names of the DOM, each as a function: `href()`, `hostname()` and
   * the other parts of the URL of `a` and `area`; `elements()`, `action()`, `method()` of `form`; `value()`, `type()`,
   * `form()`, `labels()` of fields; `rows()` and `cells()` of tables; `options()` and `selectedIndex()` of `select`.
   */
  [accessor: string]: (...args: any[]) => any;
}
