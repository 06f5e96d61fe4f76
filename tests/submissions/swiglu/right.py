# %% sigmoid
def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


# %% silu
def silu(x):
    return x * sigmoid(x)


# %% after silu
import matplotlib.pyplot as plt

grid = np.linspace(-6, 3)
plt.plot(grid, silu(grid))
plt.xlabel("x")


# %% silu_derivative
def silu_derivative(x):
    s = sigmoid(x)
    return s + x * s * (1 - s)


# %% swiglu_forward
def swiglu_forward(x, params):
    gate = x @ params["W_gate"]
    up = x @ params["W_up"]
    hidden = silu(gate) * up
    return hidden @ params["W_down"], (x, params, gate, up, hidden)


# %% gate_backward
def gate_backward(dhidden, gate, up):
    return dhidden * up * silu_derivative(gate), dhidden * silu(gate)


# %% swiglu_backward
def swiglu_backward(dout, cache):
    x, params, gate, up, hidden = cache
    dgate, dup = gate_backward(dout @ params["W_down"].T, gate, up)
    dx = dgate @ params["W_gate"].T + dup @ params["W_up"].T
    grads = {
        "W_gate": weight_gradient(x, dgate),
        "W_up": weight_gradient(x, dup),
        "W_down": weight_gradient(hidden, dout),
    }
    return dx, grads


# %% swiglu_near_zero
def swiglu_near_zero(x, params):
    return 0.5 * (x @ params["W_gate"]) * (x @ params["W_up"]) @ params["W_down"]


# %% swiglu_width
def swiglu_width(d, multiple_of=256):
    return int(np.ceil(8 * d / 3 / multiple_of)) * multiple_of


# %% [markdown] closed_gate_in_words
# With relu the feature gets no gradient from any token and stays dead. A SiLU gate has slope 0.26 at
# -0.5 and can open. In a product each factor matters as much as the other one is large, so a shut
# gate also keeps the gradient away from up. The ReLU net has no second projection that decides for
# each token how much of the first one passes.
