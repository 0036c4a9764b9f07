/* The stack machine. Calls in scripts do not nest in C, and everything is limited: no
   script runs forever, and none can overflow the C stack. */
#include "vm.h"
#include "base.h"
#include "natives.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_STEPS 50000
#define MAX_VALUES 20000
#define MAX_FRAMES 200
#define MAX_HANDLERS 1000

/* The variables of one call, and those around them. */
struct scope {
    struct scope *outer;
    struct value slots[];
};

struct frame {
    const struct code *code;
    size_t at; /* the next word */
    size_t base; /* its part of the stack */
    struct scope *scope;
    struct value self;
    int makes_object; /* called by `new` */
};

struct handler {
    size_t frame, depth;
    int to;
};

static struct value values[MAX_VALUES];
static size_t depth;
static struct frame frames[MAX_FRAMES];
static size_t frame_count;
static struct handler handlers[MAX_HANDLERS];
static size_t handler_count;
static struct object *globals;

static void put(struct value value)
{
    if (depth == MAX_VALUES)
        fail(OVER_LIMIT, 0, "the stack is full");
    values[depth++] = value;
}

static struct value take(void)
{
    return values[--depth];
}

static struct frame *top(void)
{
    return &frames[frame_count - 1];
}

static int line_of(const struct frame *frame)
{
    return frame->code->lines[frame->at - 1];
}

/* Jumps to the innermost handler, also in calling functions. */
static void throw(struct value error)
{
    if (handler_count == 0) {
        const struct string *string = string_of(error);
        fail(UNCAUGHT, line_of(top()), "uncaught: %s", string->text);
    }
    struct handler handler = handlers[--handler_count];
    frame_count = handler.frame + 1;
    depth = handler.depth;
    top()->at = (size_t)handler.to;
    put(error);
}

static void throw_text(const char *what, const char *of)
{
    struct value message = literal(what);
    throw(concatenated(message.string, literal(of).string));
}

static void enter(const struct closure *closure, struct value self, size_t count, int makes_object)
{
    const struct code *code = closure->code;

    if (frame_count == MAX_FRAMES)
        fail(OVER_LIMIT, line_of(top()), "calls are nested too deeply");
    struct scope *scope = allocate(sizeof *scope + (size_t)code->slots * sizeof(struct value));
    scope->outer = closure->around;
    depth -= count;
    for (size_t i = 0; i < count && i < (size_t)code->parameters; i++)
        scope->slots[i] = values[depth + i];
    frames[frame_count++] = (struct frame){code, 0, depth, scope, self, makes_object};
}

static int fits(const struct native *native, struct value self)
{
    if (native->self == OBJECT)
        return self.type == OBJECT && self.object->is_array;
    return native->self == UNDEFINED || native->self == self.type;
}

/* Calls a function; the function, `this` and the arguments are on the stack. */
static void call(size_t count)
{
    struct value function = values[depth - count - 2], self = values[depth - count - 1];

    if (function.type == CLOSURE) {
        enter(function.closure, self, count, 0);
        depth -= 2;
        top()->base = depth;
    } else if (function.type == NATIVE && !fits(function.native, self)) {
        throw_text("called on the wrong value: ", function.native->name);
    } else if (function.type == NATIVE) {
        struct value result = function.native->call(self, &values[depth - count], count);
        depth -= count + 2;
        put(result);
    } else {
        throw_text("not a function: ", type_of(function));
    }
}

/* Runs `new`; the function and the arguments are on the stack. */
static void construct(size_t count)
{
    struct value function = values[depth - count - 1];

    if (function.type != CLOSURE) {
        throw_text("not a constructor: ", type_of(function));
        return;
    }
    enter(function.closure, of_object(new_object(0)), count, 1);
    depth--;
    top()->base = depth;
}

static void give_back(struct value value)
{
    struct frame *frame = top();

    while (handler_count > 0 && handlers[handler_count - 1].frame == frame_count - 1)
        handler_count--;
    if (frame->makes_object && value.type != OBJECT)
        value = frame->self;
    depth = frame->base;
    frame_count--;
    put(value);
}

static struct value *variable(int up, int slot)
{
    struct scope *scope = top()->scope;

    while (up-- > 0)
        scope = scope->outer;
    return &scope->slots[slot];
}

static void load(int up, int slot)
{
    struct value value = *variable(up, slot);

    if (value.type == EMPTY)
        throw_text("a variable is used before its declaration", "");
    else
        put(value);
}

static void store(int up, int slot)
{
    struct value *place = variable(up, slot);

    if (place->type == EMPTY)
        throw_text("a variable is used before its declaration", "");
    else
        *place = values[depth - 1];
}

static int find_global(const struct string *name, struct value *value)
{
    const struct native *native = global_native(name);

    *value = get_property(globals, name);
    if (value->type == UNDEFINED && native)
        *value = (struct value){.type = NATIVE, .native = native};
    return value->type != UNDEFINED || strcmp(name->text, "undefined") == 0;
}

/* Properties. */

static struct value method(const struct native *native)
{
    return native ? (struct value){.type = NATIVE, .native = native} : undefined();
}

static struct value get_from_array(const struct object *array, struct value key)
{
    ptrdiff_t place = as_place(key);

    if (place >= 0)
        return (size_t)place < array->length ? array->elements[place] : undefined();
    const struct string *name = string_of(key);
    if (strcmp(name->text, "length") == 0)
        return number((double)array->length);
    struct value own = get_property(array, name);
    return own.type != UNDEFINED ? own : method(array_method(name));
}

static struct value get_from_string(const struct string *string, struct value key)
{
    ptrdiff_t place = as_place(key);

    if (place >= 0)
        return (size_t)place < string->length ? text(string->text + place, 1) : undefined();
    const struct string *name = string_of(key);
    if (strcmp(name->text, "length") == 0)
        return number((double)string->length);
    return method(string_method(name));
}

static void get(void)
{
    struct value key = take(), object = take();

    switch (object.type) {
    case UNDEFINED:
    case NOTHING:
        throw_text("no properties in ", string_of(object)->text);
        break;
    case STRING:
        put(get_from_string(object.string, key));
        break;
    case OBJECT:
        if (object.object->is_array)
            put(get_from_array(object.object, key));
        else
            put(get_property(object.object, string_of(key)));
        break;
    case CLOSURE:
        if (object.closure->properties)
            put(get_property(object.closure->properties, string_of(key)));
        else
            put(undefined());
        break;
    default:
        put(undefined());
        break;
    }
}

static void set_in_array(struct object *array, struct value key, struct value value)
{
    ptrdiff_t place = as_place(key);

    if (place < 0) {
        set_property(array, string_of(key), value);
        return;
    }
    while (array->length <= (size_t)place)
        push(array, undefined());
    array->elements[place] = value;
}

static void set(void)
{
    struct value value = take(), key = take(), object = take();

    switch (object.type) {
    case OBJECT:
        if (object.object->is_array)
            set_in_array(object.object, key, value);
        else
            set_property(object.object, string_of(key), value);
        break;
    case CLOSURE:
        if (object.closure->properties == NULL)
            object.closure->properties = new_object(0);
        set_property(object.closure->properties, string_of(key), value);
        break;
    case UNDEFINED:
    case NOTHING:
        throw_text("no properties in ", string_of(object)->text);
        return;
    default: /* other values keep no properties */
        break;
    }
    put(value);
}

static void delete(void)
{
    struct value key = take(), object = take();

    if (object.type == OBJECT && object.object->is_array && as_place(key) >= 0) {
        size_t place = (size_t)as_place(key);
        if (place < object.object->length)
            object.object->elements[place] = undefined();
    } else if (object.type == OBJECT) {
        delete_property(object.object, string_of(key));
    }
    put(boolean(1));
}

/* Collects the names of all properties before a for-in loop. */
static void names(void)
{
    struct value value = take();
    struct object *list = new_object(1);

    if (value.type == OBJECT) {
        const struct object *object = value.object;
        for (size_t i = 0; i < object->length; i++)
            push(list, (struct value){.type = STRING, .string = string_of(number((double)i))});
        for (size_t i = 0; i < object->count; i++)
            if (!object->properties[i].deleted)
                push(list, (struct value){.type = STRING, .string = object->properties[i].name});
    }
    put(of_object(list));
}

static void next(int to)
{
    const struct object *list = values[depth - 2].object;
    size_t i = (size_t)values[depth - 1].number;

    if (i == list->length) {
        top()->at = (size_t)to;
        return;
    }
    values[depth - 1].number++;
    put(list->elements[i]);
}

/* Operators. */

static struct value sum(struct value a, struct value b)
{
    if (a.type >= STRING || b.type >= STRING)
        return concatenated(string_of(a), string_of(b));
    return number(number_of(a) + number_of(b));
}

static int compare(enum op op, double a, double b)
{
    switch (op) {
    case OP_LESS: return a < b;
    case OP_MORE: return a > b;
    case OP_LESS_EQUAL: return a <= b;
    default: return a >= b;
    }
}

static struct value ordered(enum op op, struct value a, struct value b)
{
    if (a.type == STRING && b.type == STRING)
        return boolean(compare(op, strcmp(a.string->text, b.string->text), 0));
    return boolean(compare(op, number_of(a), number_of(b)));
}

static struct value shifted(enum op op, struct value a, struct value b)
{
    uint32_t bits = (uint32_t)integer_of(a);
    unsigned by = (unsigned)integer_of(b) & 31;

    if (op == OP_SHIFT_UNSIGNED)
        return number(bits >> by);
    if (op == OP_SHIFT_LEFT)
        bits <<= by;
    else if (bits >> 31)
        bits = ~(~bits >> by);
    else
        bits >>= by;
    return number((double)integer_of(number(bits)));
}

static struct value binary(enum op op, struct value a, struct value b)
{
    switch (op) {
    case OP_ADD: return sum(a, b);
    case OP_SUBTRACT: return number(number_of(a) - number_of(b));
    case OP_MULTIPLY: return number(number_of(a) * number_of(b));
    case OP_DIVIDE: {
        double divisor = number_of(b), dividend = number_of(a);
        if (divisor == 0)
            return number(dividend == 0 || isnan(dividend) ? NAN
                          : (dividend < 0) == !signbit(divisor) ? -INFINITY : INFINITY);
        return number(dividend / divisor);
    }
    case OP_REMAINDER: return number(fmod(number_of(a), number_of(b)));
    case OP_AND: return number(integer_of(a) & integer_of(b));
    case OP_OR: return number(integer_of(a) | integer_of(b));
    case OP_XOR: return number(integer_of(a) ^ integer_of(b));
    case OP_EQUAL: return boolean(equal(a, b));
    case OP_NOT_EQUAL: return boolean(!equal(a, b));
    case OP_SAME: return boolean(same(a, b));
    case OP_NOT_SAME: return boolean(!same(a, b));
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
    case OP_SHIFT_UNSIGNED: return shifted(op, a, b);
    default: return ordered(op, a, b);
    }
}

static struct value unary(enum op op, struct value a)
{
    switch (op) {
    case OP_NEGATE: return number(-number_of(a));
    case OP_TO_NUMBER: return number(number_of(a));
    case OP_NOT: return boolean(!truth_of(a));
    case OP_COMPLEMENT: return number(~integer_of(a));
    default: return literal(type_of(a));
    }
}

/* The loop. */

static int operand(void)
{
    struct frame *frame = top();
    return frame->code->words[frame->at++];
}

static struct string *name_operand(void)
{
    const struct code *code = top()->code;
    return code->constants[operand()].string;
}

static void load_global(void)
{
    struct string *name = name_operand();
    struct value value;

    if (find_global(name, &value))
        put(value);
    else
        throw_text("there is no variable ", name->text);
}

static void make_array(size_t count)
{
    struct object *array = new_object(1);

    for (size_t i = 0; i < count; i++)
        push(array, values[depth - count + i]);
    depth -= count;
    put(of_object(array));
}

static void make_closure(const struct code *code)
{
    struct closure *closure = allocate(sizeof *closure);
    closure->code = code;
    closure->around = top()->scope;
    put((struct value){.type = CLOSURE, .closure = closure});
}

static void guard(int to)
{
    if (handler_count == MAX_HANDLERS)
        fail(OVER_LIMIT, line_of(top()), "too many handlers");
    handlers[handler_count++] = (struct handler){frame_count - 1, depth, to};
}

static void jump_if(int wanted)
{
    int to = operand();
    if (truth_of(take()) == wanted)
        top()->at = (size_t)to;
}

static void step(enum op op)
{
    struct value a, b;
    struct string *name;
    int n;

    switch (op) {
    case OP_CONSTANT:
        n = operand();
        put(top()->code->constants[n]);
        break;
    case OP_UNDEFINED:
        put(undefined());
        break;
    case OP_NOTHING:
        put(nothing());
        break;
    case OP_TRUE:
        put(boolean(1));
        break;
    case OP_FALSE:
        put(boolean(0));
        break;
    case OP_THIS:
        put(top()->self);
        break;
    case OP_FUNCTION:
        n = operand();
        make_closure(top()->code->functions[n]);
        break;
    case OP_POP:
        take();
        break;
    case OP_COPY:
        put(values[depth - 1]);
        break;
    case OP_COPY_TWO:
        put(values[depth - 2]);
        put(values[depth - 2]);
        break;
    case OP_SWAP:
        b = take();
        a = take();
        put(b);
        put(a);
        break;
    case OP_LOAD:
        n = operand();
        load(n, operand());
        break;
    case OP_STORE:
        n = operand();
        store(n, operand());
        break;
    case OP_BEGIN:
        n = operand();
        *variable(n, operand()) = take();
        break;
    case OP_FORGET:
        variable(0, operand())->type = EMPTY;
        break;
    case OP_LOAD_GLOBAL:
        load_global();
        break;
    case OP_STORE_GLOBAL:
        set_property(globals, name_operand(), values[depth - 1]);
        break;
    case OP_TYPEOF_GLOBAL:
        name = name_operand();
        find_global(name, &a);
        put(literal(type_of(a)));
        break;
    case OP_ARRAY:
        make_array((size_t)operand());
        break;
    case OP_OBJECT:
        put(of_object(new_object(0)));
        break;
    case OP_PROPERTY:
        a = take();
        set_property(values[depth - 1].object, name_operand(), a);
        break;
    case OP_GET:
        get();
        break;
    case OP_SET:
        set();
        break;
    case OP_DELETE:
        delete();
        break;
    case OP_NEGATE:
    case OP_TO_NUMBER:
    case OP_NOT:
    case OP_COMPLEMENT:
    case OP_TYPEOF:
        put(unary(op, take()));
        break;
    case OP_JUMP:
        top()->at = (size_t)operand();
        break;
    case OP_JUMP_FALSE:
        jump_if(0);
        break;
    case OP_JUMP_TRUE:
        jump_if(1);
        break;
    case OP_CALL:
        call((size_t)operand());
        break;
    case OP_NEW:
        construct((size_t)operand());
        break;
    case OP_RETURN:
        give_back(take());
        break;
    case OP_THROW:
        throw(take());
        break;
    case OP_TRY:
        guard(operand());
        break;
    case OP_END_TRY:
        handler_count--;
        break;
    case OP_GOSUB:
        n = operand();
        put((struct value){.type = PLACE, .place = (int)top()->at});
        top()->at = (size_t)n;
        break;
    case OP_BACK:
        top()->at = (size_t)take().place;
        break;
    case OP_NAMES:
        names();
        break;
    case OP_NEXT:
        next(operand());
        break;
    case OP_TRIM:
        depth = top()->base + (size_t)operand();
        break;
    default:
        b = take();
        a = take();
        put(binary(op, a, b));
        break;
    }
}

void run(const struct code *script)
{
    struct closure whole = {.code = script};

    globals = new_object(0);
    enter(&whole, undefined(), 0, 0);
    for (int steps = 0; frame_count > 0; steps++) {
        if (steps == MAX_STEPS)
            fail(OVER_LIMIT, line_of(top()), "it runs for too long");
        step((enum op)operand());
    }
}
